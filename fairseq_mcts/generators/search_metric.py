"""Metrics for searches: from token ids to texts to scores."""

import math
from collections.abc import Callable, Sequence

from fairseq_mcts.metrics.base import FloatArray, Group, Metric, with_sources
from fairseq_mcts.metrics.checks import (
    BadComparisonError,
    BadScoreError,
    check_compared,
    check_scores,
)
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search.faults import FaultySentenceError
from fairseq_mcts.search.scorer import Candidate, Comparison


def likelihood(logprob: float, length: int) -> float:
    """The geometric mean of the probabilities of `length` tokens, from their sum of logarithms."""
    return math.exp(logprob / length)


class SearchMetric:
    """Scores finished sentences of a batch against their sources; see `search.scorer.Metric`."""

    batched = True
    reads_logprob = True

    def __init__(
        self,
        metric: Metric,
        target_text: TextDecoder,
        sources: Sequence[str],
        option: str = "--search-metric",  # that errors are to name
    ) -> None:
        self._metric = metric
        self._target_text = target_text
        self._sources = sources
        self._option = option

    def __call__(
        self, sentences: list[int], tokens: list[tuple[int, ...]], logprobs: list[float]
    ) -> list[float]:
        texts = [self._target_text.decode(one) for one in tokens]
        others = [self._sources[sentence] for sentence in sentences]
        likelihoods = [
            likelihood(logprob, len(one)) for one, logprob in zip(tokens, logprobs, strict=True)
        ]
        try:
            scores = self._metric.score_likely(texts, others, likelihoods)
            check_scores(self._metric, scores, texts, others)
        except BadScoreError as error:
            who = f"{self._option} {error.metric}"
            faulty = {
                sentences[row]: f"{who}: gives {score} for {texts[row]!r}, {error.bounds}"
                for row, score in error.scores.items()
            }
            reason = f"{who}: the score {error.score} is {error.what}"
            raise FaultySentenceError(faulty, reason) from error
        return scores


class SearchUtility:
    """Scores finished sentences of a batch against one another; see `search.scorer.Metric`."""

    batched = True

    def __init__(self, metric: Metric, target_text: TextDecoder, sources: Sequence[str]) -> None:
        """`sources` are read by few metrics (`Metric.reads_source`)."""
        self._metric = metric
        self._target_text = target_text
        self._sources = sources
        self._texts: dict[tuple[int, ...], str] = {}
        if metric.aggregates:
            self.aggregated = self._aggregated

    def __call__(self, comparisons: Sequence[Comparison]) -> list[FloatArray]:
        return self._checked(self._metric.pairwise, comparisons)

    def _aggregated(self, comparisons: Sequence[Comparison]) -> list[FloatArray]:
        return self._checked(self._metric.aggregated, comparisons)

    def _checked(
        self,
        compare: Callable[[Sequence[Group]], list[FloatArray]],
        comparisons: Sequence[Comparison],
    ) -> list[FloatArray]:
        try:
            scores = compare([self._group(one) for one in comparisons])
            check_compared(self._metric, scores)
        except BadComparisonError as error:
            who = f"--search-metric {error.metric}"
            faulty = {
                comparisons[number].hypotheses[0].sentence: f"{who}: gives {score} {error.what}"
                for number, score in error.scores.items()
            }
            raise FaultySentenceError(faulty) from error
        return scores

    def _group(self, comparison: Comparison) -> Group:
        references = [self._text(one) for one in comparison.references]
        if self._metric.reads_source:
            sources = [self._sources[one.sentence] for one in comparison.references]
            references = with_sources(references, sources)
        return Group(
            [self._text(one) for one in comparison.hypotheses],
            references,
            [likelihood(one.logprob, len(one.tokens)) for one in comparison.hypotheses],
            comparison.weights,
        )

    def _text(self, candidate: Candidate) -> str:
        if candidate.tokens not in self._texts:
            self._texts[candidate.tokens] = self._target_text.decode(candidate.tokens)
        return self._texts[candidate.tokens]
