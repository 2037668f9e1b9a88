"""One ragged batch of prefixes, as tensors: what a decoder stepper works on.

Results must not depend on which other rows share a batch. Matrix kernels choose their order of
summation by the size of the problem, but only while it is tiny: with four rows at least each row's
numbers are the same to the last bit in every batch. Attention in float32 on CPUs goes row by row
(see slot_attention.py). In other types and on other devices its columns are padded to sixteen at
least and to multiples of eight, which does not change most kernels' sums; there is no test of it.
tests/decoding/test_batch_invariance.py tests float32 on a CPU with one thread.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairseq_mcts.search.evaluator import Requests
from fairseq_mcts.search.tree import NO_NODE, NO_TOKEN, Int32, Tree, write_paths

MIN_ROWS = 4
MIN_LENGTH = 16
LENGTH_MULTIPLE = 8


def padded_length(length: int) -> int:
    """The next length that leaves every row's numbers alone."""
    return max(MIN_LENGTH, -(-length // LENGTH_MULTIPLE) * LENGTH_MULTIPLE)


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """A tensor with the numbers of an array of the host.

    Unless told not to, torch waits until the device has done this and all before it. The array may
    change afterwards: it is pageable memory, whose content CUDA has taken when the call returns.
    """
    return torch.from_numpy(array).to(device, non_blocking=True)


def index_tensor(indices: NDArray[Any], device: torch.device) -> Tensor:
    """int64, the shape of `indices`."""
    return on_device(indices.astype(np.int64, copy=False), device)


class SentenceGroups:
    """The rows of a batch by sentence: g sentences with up to c rows each.

    All rows of a sentence attend to the same source, so attention to it is one product a
    sentence and the source's keys are never repeated per row.
    """

    def __init__(self, sentences: Int32, device: torch.device) -> None:
        """`sentences` [n] is the sentence of each row."""
        self._device = device
        present, self._firsts, self._groups, self._counts = np.unique(
            sentences, return_index=True, return_inverse=True, return_counts=True
        )
        # groups are another view of rows that are sorted, with equally many of each sentence
        is_view = (np.diff(sentences) >= 0).all() and (self._counts == self._counts[0]).all()
        self._size = int(self._counts[0]) if is_view else 0
        self.sentences = index_tensor(present, device)  # [g] ascending
        self.sentence_bytes = present.tobytes()  # the same, to be compared on the host
        self._layouts: dict[int, tuple[Tensor, Tensor]] = {}  # by multiple

    def gather(self, rows: Tensor, multiple: int) -> Tensor:
        """[n, ...] -> [g, c, ...], the first row of a sentence repeated where it has fewer.

        c is a multiple of `multiple`: kernels cut long products into blocks, and no rest may be
        too small (see the top of this file).
        """
        if self._is_view(multiple):
            return rows.view(len(self.sentences), -1, *rows.shape[1:])
        return rows[self._layout(multiple)[0]]

    def scatter(self, groups: Tensor, multiple: int) -> Tensor:
        """[g, c, ...] -> [n, ...], the way back."""
        flat = groups.flatten(0, 1)
        return flat if self._is_view(multiple) else flat[self._layout(multiple)[1]]

    def _is_view(self, multiple: int) -> bool:
        return self._size > 0 and self._size % multiple == 0

    def _layout(self, multiple: int) -> tuple[Tensor, Tensor]:
        """[g, c] rows of the batch, and [n] where each row stands among them."""
        if multiple not in self._layouts:  # every layer of a decoder asks for the same
            widest = -(-int(self._counts.max()) // multiple) * multiple
            places = places_in_groups(self._groups, self._counts)
            rows = np.repeat(self._firsts[:, None], widest, axis=1)
            rows[self._groups, places] = np.arange(len(places))
            back = index_tensor(self._groups * widest + places, self._device)
            self._layouts[multiple] = (index_tensor(rows, self._device), back)
        return self._layouts[multiple]


def places_in_groups(
    groups: NDArray[np.int64],  # [n] the group of each row
    counts: NDArray[np.int64],  # [g] how many rows each group has
) -> NDArray[np.int64]:
    """[n] which row of its group each row is, in their order."""
    order = np.argsort(groups, kind="stable")
    first = np.cumsum(counts) - counts  # [g] where each group begins in `order`
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - np.repeat(first, counts)
    return places


@dataclass(frozen=True)
class StepBatch:
    """n rows: the requested prefixes, and copies of the last one up to MIN_ROWS."""

    num_requested: int
    start_token: int  # what decoding starts with
    slots: Tensor  # [n]
    numpy_slots: Int32  # [n] the same on the host
    parents: Int32  # [n] slots of the prefixes without their last tokens, NO_NODE where empty
    tokens: Tensor  # [n] the last token of each prefix, the start symbol for the empty one
    depths: Tensor  # [n] number of tokens in the prefix = position of its last token's input
    longest: int  # all depths are below it
    sentences: Int32  # [n]
    # [n, L] slots of the prefixes of each prefix, itself last; then NO_NODE as padding
    numpy_paths: Int32
    dtype: torch.dtype  # of the decoder

    @cached_property
    def groups(self) -> SentenceGroups:
        """The rows by sentence."""
        return SentenceGroups(self.sentences, self.slots.device)

    @cached_property
    def paths(self) -> Tensor:
        """[n, L] `numpy_paths` on the device, with any slot as padding."""
        return index_tensor(np.maximum(self.numpy_paths, 0), self.slots.device)

    @cached_property
    def path_mask(self) -> Tensor:
        """[n, L] 0 on the path, -inf on padding."""
        mask = torch.zeros(self.numpy_paths.shape, dtype=self.dtype, device=self.slots.device)
        padding = on_device(self.numpy_paths == NO_NODE, self.slots.device)
        return mask.masked_fill_(padding, -torch.inf)


def make_step_batch(
    tree: Tree, requests: Requests, start_token: int, device: torch.device, dtype: torch.dtype
) -> StepBatch:
    """The rows of `requests` as tensors on `device`."""
    count = len(requests)
    # a slice is a view, and most batches have rows enough
    rows = slice(None) if count >= MIN_ROWS else np.minimum(np.arange(MIN_ROWS), count - 1)
    slots = requests.slots[rows]
    depths = requests.depths[rows].astype(np.int64)
    longest = int(depths.max()) + 1
    paths = np.empty((len(slots), padded_length(longest)), np.int32)
    write_paths(tree, slots, paths)
    tokens = requests.tokens[rows].astype(np.int64)
    tokens[tokens == NO_TOKEN] = start_token
    return StepBatch(
        num_requested=count,
        start_token=start_token,
        slots=index_tensor(slots, device),
        numpy_slots=slots,
        parents=requests.parents[rows],
        tokens=index_tensor(tokens, device),
        depths=index_tensor(depths, device),
        longest=longest,
        sentences=requests.sentences[rows],
        numpy_paths=paths,
        dtype=dtype,
    )
