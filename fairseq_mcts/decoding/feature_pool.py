"""Features of remembered prefixes, under the slot numbers of the prefix tree."""

import torch
from torch import Tensor

from fairseq_mcts.decoding.key_value_pool import with_capacity


class FeaturePool:
    """One row of a decoder's features per slot, for policies that are read later or never."""

    def __init__(self) -> None:
        self._rows = torch.empty(0, 0)  # [N, C], as soon as there are any

    @property
    def bytes_per_slot(self) -> int:
        """Memory of the features of one prefix; 0 for searches that read all policies at once."""
        return self._rows.shape[1] * self._rows.element_size()

    def write(self, slots: Tensor, features: Tensor, capacity: int) -> None:
        """Stores the rows [n, C] of the slots [n], all of them below `capacity`."""
        if capacity > len(self._rows):
            rows = self._rows if len(self._rows) else features[:0]
            self._rows = with_capacity(rows, capacity)
        self._rows.index_copy_(0, slots, features)

    def read(self, slots: Tensor) -> Tensor:
        """[n, C]"""
        return self._rows.index_select(0, slots)
