"""How sure a value head was of each prefix, for who shows a search."""

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.tree import Float64, Int32


class Deviations:
    """Standard deviations of values by the slots of their prefixes, NaN where none was read.

    A slot that is given to another prefix keeps its number until the value of that one is read.
    """

    def __init__(self) -> None:
        self._of_slot: Float64 = np.zeros(0)

    def write(self, slots: Int32, deviations: NDArray[np.float32]) -> None:
        """Notes those of n prefixes."""
        missing = int(slots.max(initial=-1)) + 1 - len(self._of_slot)
        if missing > 0:
            room = np.full(max(missing, len(self._of_slot)), np.nan)  # at least as much again
            self._of_slot = np.concatenate([self._of_slot, room])
        self._of_slot[slots] = deviations

    def read(self, slots: Int32) -> Float64:
        """[n] of these prefixes."""
        found = np.full(len(slots), np.nan)
        known = np.flatnonzero((slots >= 0) & (slots < len(self._of_slot)))
        found[known] = self._of_slot[slots[known]]
        return found
