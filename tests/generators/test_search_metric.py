"""Metrics that steer a search are held to what they promise."""

from collections.abc import Sequence

import numpy as np
import pytest

from fairseq_mcts.generators.search_metric import SearchMetric, SearchUtility
from fairseq_mcts.metrics.base import FloatArray, Group, Metric, MetricConfig
from fairseq_mcts.search.faults import FaultySentenceError
from fairseq_mcts.search.scorer import Candidate, Comparison

NO_SCORES = [1.5, -0.1, float("nan"), float("inf")]


class Given(Metric):
    """Gives what the test says."""

    name = "given"  # type: ignore[misc]
    privileged = False
    aggregates = True

    def __init__(self, scores: list[float]) -> None:
        super().__init__(MetricConfig())
        self._scores = scores

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return self._scores

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        return [np.array(self._scores[2 * number :][:2]) for number in range(len(groups))]

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


@pytest.mark.parametrize("bad", NO_SCORES)
def test_a_score_outside_the_range_is_named_with_its_texts(bad: float) -> None:
    expected = r"--search-metric given: the score .* hypothesis: '3 4'; source: 'second'"
    with pytest.raises(ValueError, match=expected):
        scored([0.5, bad])


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.5, 0.5]])
def test_a_wrong_number_of_scores_is_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match=rf"metric given: {len(scores)} scores for 2 hypotheses"):
        scored(scores)


def compared(scores: list[float], *, aggregated: bool) -> list[list[float]]:
    """Scores of two translations of each of two sentences, against one or against both as one."""
    utility = SearchUtility(Given(scores), Numbers(), ["first", "second"])  # type: ignore[arg-type]
    comparisons = []
    for sentence in range(2):
        texts = [Candidate(sentence, (sentence, word), -1.0) for word in range(2)]
        comparisons.append(Comparison(texts, texts[:1], np.ones(1)))
    found = utility.aggregated(comparisons) if aggregated else utility(comparisons)
    return [one.ravel().tolist() for one in found]


@pytest.mark.parametrize("aggregated", [False, True])
def test_good_scores_of_pairs_pass(aggregated: bool) -> None:
    assert compared([0.0, 1.0, 0.25, 0.5], aggregated=aggregated) == [[0.0, 1.0], [0.25, 0.5]]


@pytest.mark.parametrize("bad", NO_SCORES)
@pytest.mark.parametrize("aggregated", [False, True])
def test_a_score_of_pairs_outside_the_range_names_its_sentence(
    aggregated: bool, bad: float
) -> None:
    with pytest.raises(FaultySentenceError, match="--search-metric given: gives") as raised:
        compared([0.5, 0.5, 0.5, bad], aggregated=aggregated)
    what = f"--search-metric given: gives {bad} for a pair, no number in [0.0, 1.0]"
    assert raised.value.reasons == {1: what}


@pytest.mark.parametrize("count", [3, 5])
def test_a_wrong_number_of_scores_of_pairs_is_refused(count: int) -> None:
    """One too many would not be missed otherwise."""
    with pytest.raises(ValueError, match=f"metric given: {count} scores for 4 hypotheses"):
        compared([0.5] * count, aggregated=False)
