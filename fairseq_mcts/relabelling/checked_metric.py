"""A metric whose scores are checked before anything is made of them."""

from collections.abc import Sequence

from fairseq_mcts.metrics.base import FloatArray, Group, Metric, PairMatches
from fairseq_mcts.metrics.checks import check_matches, check_scores


class CheckedMetric(Metric):
    """Another metric, whose scores must be numbers in its range."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.name = metric.name  # type: ignore[misc]
        self.privileged = metric.privileged
        self.range = metric.range
        self.reads_likelihood = metric.reads_likelihood
        self.reads_source = metric.reads_source
        self.aggregates = metric.aggregates
        self.matches_tokens = metric.matches_tokens

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return self._checked(self._metric.score(hypotheses, others), hypotheses, others)

    def score_likely(
        self, hypotheses: Sequence[str], others: Sequence[str], likelihoods: Sequence[float]
    ) -> list[float]:
        scores = self._metric.score_likely(hypotheses, others, likelihoods)
        return self._checked(scores, hypotheses, others)

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        """For a search that compares translations; what it finds is scored by `score`."""
        return self._metric.pairwise(groups)

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        return self._metric.aggregated(groups)

    def token_matches(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[PairMatches]:
        matches = self._metric.token_matches(hypotheses, others)
        check_matches(self._metric, matches, hypotheses, others)
        return matches

    def expect_matches(self) -> None:
        self._metric.expect_matches()

    def _checked(
        self, scores: list[float], hypotheses: Sequence[str], others: Sequence[str]
    ) -> list[float]:
        check_scores(self._metric, scores, hypotheses, others)
        return scores

    def signature(self) -> str:
        return self._metric.signature()
