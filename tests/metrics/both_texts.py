"""A metric that reads the source beside the reference, as COMET does, and is cheap."""

from collections.abc import Sequence

from fairseq_mcts.metrics import Metric, register_metric
from fairseq_mcts.metrics.base import SourcedReference


@register_metric("both_texts")
class BothTexts(Metric):
    """The share of a hypothesis' words that are in the reference or in the source."""

    privileged = True
    reads_source = True

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        scores = []
        for hypothesis, reference in zip(hypotheses, others, strict=True):
            known = {*reference.split(), *SourcedReference.source_of(self.name, reference).split()}
            words = hypothesis.split()
            scores.append(sum(word in known for word in words) / max(1, len(words)))
        return scores

    def signature(self) -> str:
        return "both_texts"
