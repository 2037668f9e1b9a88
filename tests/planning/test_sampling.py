"""A part of a corpus that stands for all of it."""

import pytest

from fairseq_mcts.planning.sampling import in_spread_order, whole
from fairseq_mcts.work import Shard, cut


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 13])
def test_each_batch_comes_once(count: int) -> None:
    assert sorted(in_spread_order(range(count))) == list(range(count))


def test_every_beginning_is_spread_evenly() -> None:
    assert in_spread_order(range(8)) == [0, 4, 2, 6, 1, 5, 3, 7]


def test_a_short_end_is_left_out() -> None:
    chunks = cut("test", range(23), 10, Shard())
    assert [chunk.rows for chunk in whole(chunks, 10)] == [range(10), range(10, 20)]
