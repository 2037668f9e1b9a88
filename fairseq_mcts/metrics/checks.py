"""Scores are checked before anything is made of them: metrics are other people's code, too."""

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from fairseq_mcts.metrics.base import FloatArray, Metric, PairMatches


class BadScoreError(ValueError):
    """Scores that no metric may give; which texts the first of them is of."""

    def __init__(
        self, metric: "Metric", scores: dict[int, float], hypothesis: str, other: str
    ) -> None:
        self.metric = metric.name
        self.scores = scores  # all such scores by their rows
        self.score = next(iter(scores.values()))
        self.other = other
        self.bounds = _no_number(metric)
        self.what = f"{self.bounds}; hypothesis: {hypothesis!r}; {metric.compares_with}: {other!r}"
        super().__init__(f"metric {metric.name}: the score {self.score} is {self.what}")


class BadComparisonError(ValueError):
    """Scores of pairs that no metric may give; `scores` has one for each group with such pairs."""

    def __init__(self, metric: "Metric", scores: dict[int, float]) -> None:
        self.metric = metric.name
        self.scores = scores
        self.what = f"for a pair, {_no_number(metric)}"
        first = next(iter(scores.values()))
        super().__init__(f"metric {metric.name}: gives {first} {self.what}")


def check_scores(
    metric: "Metric", scores: Sequence[float], hypotheses: Sequence[str], others: Sequence[str]
) -> None:
    """Refuses scores that are not one for each pair, or not in the metric's range."""
    check_count(metric, scores, hypotheses)
    bad = np.flatnonzero(_is_bad(metric, scores)).tolist()
    if bad:
        texts = (hypotheses[bad[0]], others[bad[0]])
        raise BadScoreError(metric, {row: scores[row] for row in bad}, *texts)


def check_count(metric: "Metric", scores: Sized, hypotheses: Sized) -> None:
    """Refuses scores that are not one for each pair."""
    if len(scores) != len(hypotheses):
        raise ValueError(
            f"metric {metric.name}: {len(scores)} scores for {len(hypotheses)} hypotheses"
        )


def check_compared(metric: "Metric", groups: Sequence["FloatArray"]) -> None:
    """Refuses scores of whole groups of pairs that are not in the metric's range."""
    bad = {}
    for number, scores in enumerate(groups):
        found = np.asarray(scores)[_is_bad(metric, scores)]
        if found.size:
            bad[number] = float(found[0])
    if bad:
        raise BadComparisonError(metric, bad)


def _is_bad(metric: "Metric", scores: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    low, high = metric.range
    numbers = np.asarray(scores, np.float32)  # as scored folders keep them
    return ~((numbers >= np.float32(low)) & (numbers <= np.float32(high)))


def _no_number(metric: "Metric") -> str:
    low, high = metric.range
    return f"no number in [{low}, {high}]"


def check_matches(
    metric: "Metric",
    matches: Sequence["PairMatches"],
    hypotheses: Sequence[str],
    others: Sequence[str],
) -> None:
    """Refuses matches that are not one for each pair, of pieces of its texts."""
    if len(matches) != len(hypotheses):
        raise ValueError(
            f"metric {metric.name}: matches of {len(matches)} pairs for {len(hypotheses)}"
        )
    for pair, *texts in zip(matches, hypotheses, others, strict=True):
        pieces = (len(pair.hypothesis_spans), len(pair.other_spans))
        known = pair.similarities.shape == pieces and np.isfinite(pair.similarities).all()
        for spans, text in zip(pair[1:], texts, strict=True):
            begins, ends = spans.T  # [P]
            inside = (begins >= 0) & (begins <= ends) & (ends <= len(text))
            if not (known and inside.all()):
                raise ValueError(f"metric {metric.name}: matches that are none of {text!r}")
