"""Rows as they are made, before they are a file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor

Tokens = tuple[int, ...]  # y1 .. yn eos

#: How a row's sample was made; rows hold its place in here.
METHODS = ("greedy", "sample", "completion", "search")


@dataclass(frozen=True)
class LabelledRow:
    """A translation of a source."""

    tokens: Tokens
    method: str  # of METHODS
    first: int = 0  # the score is that of prefixes of at least so many tokens
    score: float | None = None  # None: not asked for yet
    likelihood: float = math.nan  # the geometric mean of its tokens' probabilities, if known


class Batch(NamedTuple):
    """S sources that are translated together."""

    sources: Sequence[Tensor]  # of their tokens, eos last
    others: Sequence[str]  # texts that the metric compares their translations with
    # that are at work at the same time, the next joining as one is finished; None: all
    at_once: int | None = None


class RowMaker(Protocol):
    """A way to make rows; those of a source depend on nothing but the source and the settings."""

    def make(self, batch: Batch) -> list[list[LabelledRow]]:
        """The rows of each source."""
        ...


def distinct(rows: Sequence[LabelledRow]) -> list[LabelledRow]:
    """The rows without those whose tokens stand there already."""
    return list({row.tokens: row for row in reversed(rows)}.values())[::-1]
