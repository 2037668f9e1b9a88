"""What the metrics of sacrebleu have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairseq_mcts.metrics.base import FloatArray, Metric, MetricConfig


class SacrebleuMetric(Metric):
    """A metric of sacrebleu against one reference.

    Time and memory are linear in the length of the texts.
    """

    privileged = True
    report_factor = 100.0
    report_digits = 2

    def __init__(self, config: MetricConfig, *, of_corpus: Any, of_sentence: Any) -> None:
        """The objects of sacrebleu that score a corpus and a sentence; may be the same."""
        super().__init__(config)
        self._of_corpus = of_corpus
        self._of_sentence = of_sentence
        for scorer in (of_corpus, of_sentence):
            scorer.num_refs = 1  # its signature needs to know before anything was scored

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        pairs = list(zip(hypotheses, others, strict=True))
        scores = {
            (hypothesis, other): self._scaled(self._of_sentence.sentence_score(hypothesis, [other]))
            for hypothesis, other in dict.fromkeys(pairs)  # a search asks for the same text often
        }
        return [scores[pair] for pair in pairs]

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        """sacrebleu's counts [N, K]."""
        self.check_pairs(hypotheses, others)
        counts = self._of_corpus._extract_corpus_statistics(hypotheses, [others])
        return np.asarray(counts, dtype=np.float64)

    def aggregate(self, totals: FloatArray) -> float:
        counts = [int(total) for total in totals]
        return self._scaled(self._of_corpus._compute_score_from_stats(counts))

    def signature(self) -> str:
        """sacrebleu's signature of the corpus score."""
        return str(self._of_corpus.get_signature().format())

    def sentence_signature(self) -> str:
        """sacrebleu's signature of the sentence scores."""
        return str(self._of_sentence.get_signature().format())

    def _scaled(self, score: Any) -> float:
        return min(float(score.score) / self.report_factor, 1.0)  # sacrebleu rounds up to 100.00…4
