"""The pieces that work is cut into, and who does which."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

#: what a chunk holds once it is made
Arrays = Mapping[str, npt.NDArray[Any]]


class Chunk(NamedTuple):
    """Some rows of a corpus, whose result depends on nothing but them and the settings."""

    part: str  # which corpus, where the work has several: the name of a split
    number: int  # among the chunks of its part
    rows: range  # of the corpus

    def __str__(self) -> str:
        return f"rows {self.rows.start} to {self.rows.stop - 1} of {self.part}"


@dataclass(frozen=True)
class Shard:
    """The part of the work that one command does: the chunks c with c % count == index."""

    index: int = 0
    count: int = 1

    def __str__(self) -> str:
        return f"shard {self.index} of {self.count}"


def num_chunks(rows: int, chunk_rows: int) -> int:
    """How many chunks of `chunk_rows` rows a corpus has; the last may be shorter."""
    return -(-rows // chunk_rows)


def cut(part: str, rows: range, chunk_rows: int, shard: Shard) -> list[Chunk]:
    """The chunks of a shard, in the order of the corpus."""
    numbers = range(shard.index, num_chunks(len(rows), chunk_rows), shard.count)
    return [
        Chunk(part, number, rows[number * chunk_rows : (number + 1) * chunk_rows])
        for number in numbers
    ]
