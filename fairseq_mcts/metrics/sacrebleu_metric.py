"""What the metrics of sacrebleu have in common."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairseq_mcts.metrics.base import FloatArray, Group, Metric, MetricConfig
from fairseq_mcts.metrics.ngrams import Counts, NgramMatches, match_mean, match_pairs


class SacrebleuMetric(Metric):
    """A metric of sacrebleu against one reference.

    Time and memory are linear in the length of the texts.
    """

    privileged = True
    report_factor = 100.0
    report_digits = 2
    aggregates = True

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

    @abstractmethod
    def count(self, texts: Sequence[str]) -> list[Counts]:
        """[N][T, G] the n-grams of N kinds that each text has."""

    @abstractmethod
    def score_of_matches(self, matches: NgramMatches) -> FloatArray:
        """[H, R] the scores of sentences, as sacrebleu computes them."""

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        """Counts the n-grams of each text once."""
        return [self._matched(group, match_pairs) for group in groups]

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        """The other text has the weighted mean of all others' n-grams (DeNero et al. 2009)."""
        return [
            self._matched(group, partial(match_mean, weights=group.weights))[:, 0]
            for group in groups
        ]

    def _matched(
        self, group: Group, match: Callable[[list[Counts], list[int], list[int]], NgramMatches]
    ) -> FloatArray:
        texts = dict.fromkeys([*group.hypotheses, *group.others])
        places = {text: place for place, text in enumerate(texts)}
        rows, others = (
            [places[text] for text in side] for side in (group.hypotheses, group.others)
        )
        scores = self.score_of_matches(match(self.count(list(places)), rows, others))
        return np.minimum(scores, 1.0)  # sacrebleu rounds up to 100.00…4

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
