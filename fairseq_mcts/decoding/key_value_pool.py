"""Keys and values of every remembered prefix, under the slot numbers of the prefix tree."""

import math

import torch
from torch import Tensor


class KeyValuePool:
    """One key and one value row per layer and slot.

    A prefix's rows are written once, when it is evaluated; longer prefixes read them in place.
    Slots that the tree frees are overwritten by the next prefix that gets them.
    """

    def __init__(
        self, num_layers: int, row_shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
    ) -> None:
        empty = (0, *row_shape)
        self.keys = [torch.empty(empty, dtype=dtype, device=device) for _ in range(num_layers)]
        self.values = [torch.empty(empty, dtype=dtype, device=device) for _ in range(num_layers)]

    @property
    def capacity(self) -> int:
        """How many slots there is room for."""
        return len(self.keys[0])

    @property
    def bytes_per_slot(self) -> int:
        """Memory of the keys and values of one prefix."""
        rows = self.keys[0]
        return 2 * len(self.keys) * math.prod(rows.shape[1:]) * rows.element_size()

    @property
    def tensors(self) -> list[Tensor]:
        """The keys of all layers, then the values: [N, ...] each."""
        return [*self.keys, *self.values]

    def reserve(self, capacity: int) -> None:
        """Makes room for `capacity` slots; one layer at a time, so that little is held twice."""
        if capacity <= self.capacity:
            return
        for tensors in (self.keys, self.values):
            for layer, rows in enumerate(tensors):
                tensors[layer] = with_capacity(rows, capacity)

    def write(self, layer: int, slots: Tensor, key: Tensor, value: Tensor) -> None:
        """Stores the rows [n, ...] of the slots [n]."""
        self.keys[layer].index_copy_(0, slots, key)
        self.values[layer].index_copy_(0, slots, value)

    def read(self, layer: int, paths: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [n, L, ...] of the slots in paths [n, L]."""
        shape = (*paths.shape, *self.keys[layer].shape[1:])
        flat = paths.flatten()
        keys = self.keys[layer].index_select(0, flat).view(shape)
        values = self.values[layer].index_select(0, flat).view(shape)
        return keys, values


def with_capacity(rows: Tensor, capacity: int) -> Tensor:
    """[N, ...] -> [capacity, ...] with room for more rows."""
    wider = rows.new_empty((capacity, *rows.shape[1:]))
    if len(rows):
        wider[: len(rows)] = rows
    else:
        wider[0] = 0.0  # padding of a path reads slot 0, and 0 · NaN would be NaN
    return wider
