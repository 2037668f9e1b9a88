"""Scores beyond the buckets of a value head are refused."""

import pytest

from fairseq_mcts.data.scored_folder import ScoredDataError
from fairseq_mcts.data.value_range import refuse_narrow_range
from fairseq_mcts.models.value_head import ValueHead


@pytest.fixture
def head() -> ValueHead:
    return ValueHead(4, low=0.1, high=0.7, buckets=3)


@pytest.mark.parametrize("observed", [None, (0.2, 0.6), (0.1, 0.7), (0.1 - 1e-7, 0.7 + 1e-7)])
def test_scores_within_the_range_are_accepted(
    head: ValueHead, observed: tuple[float, float] | None
) -> None:
    refuse_narrow_range(head, observed)


@pytest.mark.parametrize("observed", [(0.0999, 0.7), (0.1, 0.7001)])
def test_scores_beyond_the_range_are_refused(
    head: ValueHead, observed: tuple[float, float]
) -> None:
    with pytest.raises(ScoredDataError, match=f"scores go from {observed[0]} to {observed[1]}"):
        refuse_narrow_range(head, observed)
