"""A metric as a user would write one: cheap, and in need of nothing but the source."""

from collections.abc import Sequence

from fairseq_mcts.metrics import Metric, register_metric

VOWELS = "aeiouäöü"


@register_metric("vowels")
class Vowels(Metric):
    """How alike hypothesis and source are in their numbers of each vowel."""

    privileged = False

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [_likeness(one, other) for one, other in zip(hypotheses, others, strict=True)]

    def signature(self) -> str:
        return "vowels"


def _likeness(one: str, other: str) -> float:
    counts = [(one.lower().count(vowel), other.lower().count(vowel)) for vowel in VOWELS]
    return 1.0 - sum(abs(a - b) for a, b in counts) / max(1, sum(a + b for a, b in counts))
