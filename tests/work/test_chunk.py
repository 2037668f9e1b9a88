"""Corpora cut into chunks."""

from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.work import Shard, cut, num_chunks


@given(st.integers(0, 200), st.integers(0, 50), st.integers(1, 30), st.integers(1, 9))
def test_each_row_is_in_one_chunk_of_one_shard(
    rows: int, begin: int, chunk_rows: int, shards: int
) -> None:
    of_shards = [
        cut("x", range(begin, begin + rows), chunk_rows, Shard(index, shards))
        for index in range(shards)
    ]
    chunks = sorted((one for several in of_shards for one in several), key=lambda one: one.number)
    assert [one.number for one in chunks] == list(range(num_chunks(rows, chunk_rows)))
    assert [row for one in chunks for row in one.rows] == list(range(begin, begin + rows))
    assert chunks == cut("x", range(begin, begin + rows), chunk_rows, Shard())
