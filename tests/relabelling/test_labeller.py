"""Batches of a chunk."""

import pytest

from fairseq_mcts.relabelling.labeller import BatchLimits

LENGTHS = [3, 9, 1, 5, 5, 2]


@pytest.mark.parametrize(
    "limits, batches",
    [
        (BatchLimits(100), [[1, 3, 4, 0, 5, 2]]),
        (BatchLimits(100, 4), [[1, 3, 4, 0], [5, 2]]),
        (BatchLimits(10), [[1], [3, 4], [0, 5, 2]]),
        (BatchLimits(4), [[1], [3], [4], [0], [5, 2]]),  # a long one is alone, not left out
        (BatchLimits(4, 1), [[1], [3], [4], [0], [5], [2]]),
    ],
)
def test_batches_are_sorted_by_length_and_limited(
    limits: BatchLimits, batches: list[list[int]]
) -> None:
    assert list(limits.batches(LENGTHS)) == batches


def test_no_rows_are_no_batches() -> None:
    assert list(BatchLimits(10, 2).batches([])) == []
