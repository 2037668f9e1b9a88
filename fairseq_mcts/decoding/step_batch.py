"""One ragged batch of prefixes, as tensors: what a decoder stepper works on.

Results must not depend on which other rows share a batch. Matrix kernels choose their order of
summation by the size of the problem, but only while it is tiny: with four rows at least, sixteen
columns at least, and whole vector registers, each row's numbers are the same to the last bit in
every batch (on CPUs with one thread; see tests/decoding/test_batch_invariance.py). The paddings
cost next to nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.search.evaluator import Requests
from fairseq_mcts.search.tree import NO_NODE, NO_TOKEN, Int32, Tree, write_paths

MIN_ROWS = 4
MIN_LENGTH = 16
LENGTH_MULTIPLE = 8


def padded_length(length: int) -> int:
    """The next length that leaves every row's numbers alone."""
    return max(MIN_LENGTH, -(-length // LENGTH_MULTIPLE) * LENGTH_MULTIPLE)


class SentenceGroups:
    """The rows of a batch by sentence: g sentences with up to c rows each.

    All rows of a sentence attend to the same source, so attention to it is one product a
    sentence and the source's keys are never repeated per row.
    """

    def __init__(self, sentences: Int32, device: torch.device) -> None:
        """`sentences` [n] is the sentence of each row."""
        self._device = device
        # one row a sentence, in order: groups and rows are the same thing
        self.trivial = bool((sentences[1:] > sentences[:-1]).all())
        if self.trivial:
            present, self._group_of_row = sentences, np.arange(len(sentences))
            self._counts = np.ones(len(sentences), np.int64)
        else:
            present, self._group_of_row, self._counts = np.unique(
                sentences, return_inverse=True, return_counts=True
            )
        self.sentences = torch.from_numpy(present.astype(np.int64)).to(device)  # [g] ascending
        self.sentence_bytes = present.tobytes()  # the same, to be compared on the host

    @property
    def rows(self) -> Tensor:
        """[g, c] rows of the batch, the first one repeated where a sentence has fewer.

        c is a multiple of MIN_ROWS, because kernels cut long products into blocks and no rest may
        be too small.
        """
        return self._rows_and_places[0]

    @property
    def places(self) -> Tensor:
        """[n] where each row stands in rows.flatten()"""
        return self._rows_and_places[1]

    @cached_property
    def _rows_and_places(self) -> tuple[Tensor, Tensor]:
        groups, counts = self._group_of_row, self._counts
        widest = -(-int(counts.max()) // MIN_ROWS) * MIN_ROWS
        order = np.argsort(groups, kind="stable")
        first = np.cumsum(counts) - counts  # [g] where each group begins in `order`
        place_in_group = np.empty(len(groups), np.int64)
        place_in_group[order] = np.arange(len(groups)) - np.repeat(first, counts)
        rows = np.repeat(order[first][:, None], widest, axis=1)
        rows[groups, place_in_group] = np.arange(len(groups))
        return (
            torch.from_numpy(rows.astype(np.int64)).to(self._device),
            torch.from_numpy(groups * widest + place_in_group).to(self._device),
        )


@dataclass(frozen=True)
class StepBatch:
    """n rows: the requested prefixes, and copies of the last one up to MIN_ROWS."""

    num_requested: int
    start_token: int  # what decoding starts with
    slots: Tensor  # [n]
    tokens: Tensor  # [n] the last token of each prefix, the start symbol for the empty one
    depths: Tensor  # [n] number of tokens in the prefix = position of its last token's input
    paths: Tensor  # [n, L] slots of the prefixes of the prefix, itself last; then padding
    path_mask: Tensor  # [n, L] 0 on the path, -inf on padding
    groups: SentenceGroups
    numpy_paths: Int32  # [n, L] as `paths`, with NO_NODE as padding


def make_step_batch(
    tree: Tree, requests: Requests, start_token: int, device: torch.device, dtype: torch.dtype
) -> StepBatch:
    """The rows of `requests` as tensors on `device`."""
    count = len(requests)
    rows = np.minimum(np.arange(max(count, MIN_ROWS)), count - 1)
    slots = requests.slots[rows]
    depths = requests.depths[rows]
    paths = np.empty((len(rows), padded_length(int(depths.max()) + 1)), np.int32)
    write_paths(tree, slots, paths)
    tokens = np.where(requests.tokens == NO_TOKEN, start_token, requests.tokens)[rows]

    on_device = torch.from_numpy(np.maximum(paths, 0).astype(np.int64)).to(device)
    mask = torch.zeros(paths.shape, dtype=dtype, device=device)
    mask.masked_fill_(torch.from_numpy(paths == NO_NODE).to(device), -torch.inf)
    return StepBatch(
        num_requested=count,
        start_token=start_token,
        slots=torch.from_numpy(slots.astype(np.int64)).to(device),
        tokens=torch.from_numpy(tokens.astype(np.int64)).to(device),
        depths=torch.from_numpy(depths.astype(np.int64)).to(device),
        paths=on_device,
        path_mask=mask,
        groups=SentenceGroups(requests.sentences[rows], device),
        numpy_paths=paths,
    )
