"""Which batches, or chunks, stand for a whole corpus."""

from collections.abc import Sequence
from typing import TypeVar

from fairseq_mcts.work import Chunk

Batch = TypeVar("Batch")


def whole(chunks: Sequence[Chunk], rows: int) -> list[Chunk]:
    """Those of so many rows: the last may be shorter, and then costs more for each sentence."""
    return [chunk for chunk in chunks if len(chunk.rows) == rows]


def in_spread_order(batches: Sequence[Batch]) -> list[Batch]:
    """All batches in an order whose every beginning is spread evenly over them.

    A corpus may change from its begin to its end, in length above all: so does a part of it stand
    for all.
    """
    count = len(batches)
    bits = max(count - 1, 1).bit_length()
    reversed_bits = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(2**bits))
    return [batches[number] for number in reversed_bits if number < count]
