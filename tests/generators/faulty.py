"""A metric that gives no number for sources with a certain word: other people's code may."""

from collections.abc import Sequence

from fairseq_mcts.metrics import register_metric
from tests.generators.vowels import Vowels, VowelsConfig

NO_NUMBER = "Frieda"


@register_metric("faulty-vowels", config=VowelsConfig)
class FaultyVowels(Vowels):
    """As `vowels`, but for sentences about Frieda."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        scores = super().score(hypotheses, others)
        pairs = zip(scores, others, strict=True)
        return [float("nan") if NO_NUMBER in other else score for score, other in pairs]
