"""A metric as a user would write one: cheap, and in need of nothing but the source."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.metrics import Metric, MetricConfig, register_metric

VOWELS = "aeiouäöü "


@dataclass
class VowelsConfig(MetricConfig):
    """Options of `vowels`."""

    scale: float = 1.0


@register_metric("vowels", config=VowelsConfig)
class Vowels(Metric):
    """How alike hypothesis and source are in their numbers of each vowel, and of words."""

    privileged = False
    config: VowelsConfig

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        pairs = zip(hypotheses, others, strict=True)
        return [self.config.scale * _likeness(one, other) for one, other in pairs]

    def signature(self) -> str:
        return "vowels"


def _likeness(one: str, other: str) -> float:
    counts = [(one.lower().count(vowel), other.lower().count(vowel)) for vowel in VOWELS]
    return 1.0 - sum(abs(a - b) for a, b in counts) / max(1, sum(a + b for a, b in counts))
