"""Scores are checked before anything is made of them: metrics are other people's code, too."""

from collections.abc import Sequence

import numpy as np

from fairseq_mcts.metrics.base import Metric


class BadScoreError(ValueError):
    """Scores that no metric may give; which texts the first of them is of."""

    def __init__(
        self, metric: Metric, rows: Sequence[int], score: float, hypothesis: str, other: str
    ) -> None:
        low, high = metric.range
        super().__init__(
            f"no number in [{low}, {high}]; hypothesis: {hypothesis!r}; {metric.compares_with}: "
            f"{other!r}"
        )
        self.rows = rows  # of all such scores
        self.score = score
        self.other = other


def check_scores(
    metric: Metric, scores: Sequence[float], hypotheses: Sequence[str], others: Sequence[str]
) -> None:
    """Refuses scores that are not one for each pair, or not in the metric's range."""
    if len(scores) != len(hypotheses):
        raise ValueError(
            f"metric {metric.name}: {len(scores)} scores for {len(hypotheses)} hypotheses"
        )
    low, high = metric.range
    numbers = np.asarray(scores, np.float32)  # as scored folders keep them
    bad = np.flatnonzero(~((numbers >= np.float32(low)) & (numbers <= np.float32(high))))
    if len(bad):
        first = int(bad[0])
        texts = (hypotheses[first], others[first])
        raise BadScoreError(metric, bad.tolist(), scores[first], *texts)
