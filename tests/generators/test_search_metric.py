"""Metrics that steer a search are held to what they promise."""

from collections.abc import Sequence

import pytest

from fairseq_mcts.generators.search_metric import SearchMetric
from fairseq_mcts.metrics.base import Metric, MetricConfig


class Given(Metric):
    """Gives what the test says."""

    name = "given"  # type: ignore[misc]
    privileged = False

    def __init__(self, scores: list[float]) -> None:
        super().__init__(MetricConfig())
        self._scores = scores

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return self._scores

    def signature(self) -> str:
        return "given"


class Numbers:
    """Tokens as text."""

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(map(str, tokens))


def scored(scores: list[float]) -> list[float]:
    search_metric = SearchMetric(Given(scores), Numbers(), ["first", "second"])  # type: ignore[arg-type]
    return search_metric([0, 1], [(1, 2), (3, 4)], [-1.0, -2.0])


def test_good_scores_pass() -> None:
    assert scored([0.0, 1.0]) == [0.0, 1.0]


@pytest.mark.parametrize("bad", [1.5, -0.1, float("nan"), float("inf")])
def test_a_score_outside_the_range_is_named_with_its_texts(bad: float) -> None:
    expected = r"--search-metric given: the score .* hypothesis: '3 4'; source: 'second'"
    with pytest.raises(ValueError, match=expected):
        scored([0.5, bad])


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.5, 0.5]])
def test_a_wrong_number_of_scores_is_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match=rf"metric given: {len(scores)} scores for 2 hypotheses"):
        scored(scores)
