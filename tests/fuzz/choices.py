"""Where random decisions come from: a seed in the long driver, hypothesis in tests.

Cases are written once, as functions of `Choices`. The driver makes many of them fast and names each
by two integers; hypothesis makes few, but shrinks one that fails.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item")


class Choices(Protocol):
    """Draws of the few kinds that cases are made of."""

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        ...

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of some things."""
        ...


def chance(choices: Choices, in_hundred: int) -> bool:
    """True in so many of a hundred cases."""
    return choices.integer(1, 100) <= in_hundred


def some_of(choices: Choices, items: Sequence[Item], most: int) -> list[Item]:
    """At most so many of some things, each at most once."""
    left = list(items)
    count = choices.integer(0, min(most, len(left)))
    return [left.pop(choices.integer(0, len(left) - 1)) for _ in range(count)]


class SeededChoices:
    """Draws that two integers determine."""

    def __init__(self, seed: int, number: int) -> None:
        self._random = random.Random(f"{seed}-{number}")

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def one_of(self, items: Sequence[Item]) -> Item:
        return self._random.choice(items)


class HypothesisChoices:
    """Draws that hypothesis can shrink."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def integer(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))

    def one_of(self, items: Sequence[Item]) -> Item:
        return self._data.draw(st.sampled_from(items))
