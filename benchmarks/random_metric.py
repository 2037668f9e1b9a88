"""A metric for random networks, whose sentences mean nothing: it costs next to nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from fairseq_mcts.metrics import Metric, MetricConfig

GOLDEN_RATIO = 0.6180339887498949


class WordWorth(Metric):
    """The mean worth of a sentence's words, which are "w" and a number: any number in [0, 1)."""

    name = "word worth"
    privileged = False

    def __init__(self) -> None:
        super().__init__(MetricConfig())

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        return [_mean_worth(hypothesis.split()) for hypothesis in hypotheses]

    def signature(self) -> str:
        return "word worth"


def _mean_worth(words: list[str]) -> float:
    worth = [int(word[1:]) * GOLDEN_RATIO % 1.0 if word[1:].isdigit() else 0.0 for word in words]
    return sum(worth) / max(1, len(worth))
