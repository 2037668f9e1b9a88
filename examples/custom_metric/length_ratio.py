"""A metric in one class: is the translation as long as such a source asks for?"""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.metrics import Metric, MetricConfig, register_metric


@dataclass
class LengthRatioConfig(MetricConfig):
    """Options of `length_ratio`."""

    # Expected length of a translation, in characters per character of its source.
    expected: float = 1.1


@register_metric("length_ratio", config=LengthRatioConfig)
class LengthRatio(Metric):
    """1 for a translation of exactly the expected length, less for shorter and for longer ones.

    It needs no reference, so it may steer a search (and will be gamed by one: that is a lesson
    about metrics, not about searches).
    """

    privileged = False
    config: LengthRatioConfig

    def __init__(self, config: LengthRatioConfig) -> None:
        super().__init__(config)
        if config.expected <= 0:
            raise ValueError(f"length_ratio: expected={config.expected} must be positive")

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        return [
            self._score_one(len(hypothesis.strip()), self.config.expected * len(source.strip()))
            for hypothesis, source in zip(hypotheses, others, strict=True)
        ]

    def _score_one(self, length: int, expected: float) -> float:
        longer = max(length, expected)
        return min(length, expected) / longer if longer > 0 else 1.0

    def signature(self) -> str:
        return f"against:source|expected:{self.config.expected}|unit:characters"
