"""Lines of text that fairseq-interactive reads: their numbers, and those that are too long."""

import logging
from typing import Any

logger = logging.getLogger(__name__)


class InputLines:
    """The lines that are being translated; fairseq itself forgets which ones they are."""

    def __init__(self) -> None:
        self.dataset: Any = None  # of the lines that were read last
        self._first = self._next = 0  # number of the first of them, and of the first not yet read
        self._are_answered_by_number = False  # as fairseq-interactive does, but not the hub

    def read(self, count: int) -> None:
        """Counts lines that are read now."""
        self._first, self._next = self._next, self._next + count
        self._are_answered_by_number = True

    def fitting(self, indices: Any, max_positions: Any, *, skip_invalid: bool) -> Any:
        """The indices without lines that are too long: each is named.

        They are left out where answers carry numbers, and refused where others would move into
        their places, unless that is asked for.
        """
        kept, too_long = self.dataset.filter_indices_by_size(indices, max_positions)
        longest = max_positions if isinstance(max_positions, (int, float)) else max_positions[0]
        for sample in sorted(too_long):
            number = self._first + sample
            complaint = (
                f"input line {number + 1} (it would be S-{number}) has "
                f"{self.dataset.src_sizes[sample]} tokens, more than the {longest} that the model "
                "can read"
            )
            if not (skip_invalid or self._are_answered_by_number):
                raise ValueError(complaint)
            logger.error("%s: left out; --truncate-source translates its beginning", complaint)
        return kept

    def numbers(self, src_tokens: Any, pad: int) -> list[tuple[int, ...]]:
        """[B] which lines the rows of a batch [B, T] are.

        Equal lines have equal trees, so it does no harm that each of them gets the numbers of all.
        """
        numbers: dict[tuple[int, ...], tuple[int, ...]] = {}
        for index in range(len(self.dataset)):
            tokens = _without_padding(self.dataset[index]["source"].tolist(), pad)
            numbers[tokens] = (*numbers.get(tokens, ()), self._first + index)
        return [numbers[_without_padding(row, pad)] for row in src_tokens.tolist()]


def _without_padding(tokens: list[int], pad: int) -> tuple[int, ...]:
    """Not around them: a line may hold the symbol itself, which then stays where it stands."""
    others = [place for place, token in enumerate(tokens) if token != pad]
    return tuple(tokens[others[0] : others[-1] + 1]) if others else ()
