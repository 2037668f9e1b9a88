"""Keys and values of the source sentences, one copy a sentence: what cross attention reads."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from fairseq_mcts.decoding.row_attention import RowAttention
from fairseq_mcts.decoding.slot_attention import attend_sources
from fairseq_mcts.decoding.step_batch import SentenceGroups, StepBatch

KeysValues = tuple[Tensor, Tensor]  # of one layer, [S, T, K] each


class SourceKeys(Protocol):
    """The sources of a batch of sentences, in all layers."""

    def attend(
        self, attention: RowAttention, layer: int, query: Tensor, batch: StepBatch
    ) -> Tensor:
        """Queries [n, H * d] of the rows of `batch`, each to its sentence's source; [n, H * d]."""


def source_keys_on_host(
    keys_values: Sequence[KeysValues],
    is_padding: Tensor,  # [S, T]
) -> SourceKeys:
    """For the compiled kernel, unless a source has padding between its tokens."""
    if bool((is_padding[:, :-1] & ~is_padding[:, 1:]).any()):
        return SourceKeysOnDevice(keys_values, is_padding)
    return SourceKeysOnHost(keys_values, is_padding)


class SourceKeysOnHost:
    """For the compiled kernel, which reads a sentence's tokens but no padding after them."""

    def __init__(self, keys_values: Sequence[KeysValues], is_padding: Tensor) -> None:
        self._keys_values = keys_values
        self._lengths = (~is_padding).sum(dim=1, dtype=torch.int32).numpy()  # [S]

    def attend(
        self, attention: RowAttention, layer: int, query: Tensor, batch: StepBatch
    ) -> Tensor:
        keys, values = self._keys_values[layer]
        queries = query.view(len(query), attention.heads, attention.size)
        shape = (*keys.shape[:2], -1, attention.size)  # [S, T, 1 or H, d]
        attended = torch.empty_like(queries)
        attend_sources(
            queries.numpy(),
            keys.view(shape).numpy(),
            values.view(shape).numpy(),
            self._lengths,
            batch.sentences,
            attended.numpy(),
        )
        return attended.flatten(1)


class SourceKeysOnDevice:
    """For tensor operations, which attend to the sources of all sentences at once."""

    def __init__(self, keys_values: Sequence[KeysValues], is_padding: Tensor) -> None:
        self._keys_values = keys_values
        no_mask = keys_values[0][0].new_zeros(is_padding.shape)
        self._mask = no_mask.masked_fill_(is_padding, -torch.inf)  # [S, T]
        # of the sentences of the last step, which are mostly those of the next one too
        self._present: Sequence[KeysValues] = []
        self._present_mask = self._mask
        self._present_sentences: bytes | None = None

    def attend(
        self, attention: RowAttention, layer: int, query: Tensor, batch: StepBatch
    ) -> Tensor:
        self._select(batch.groups)
        keys, values = self._present[layer]
        query = query.view(len(query), attention.heads, attention.size)
        return attention.attend_groups(query, keys, values, self._present_mask, batch.groups)

    def _select(self, groups: SentenceGroups) -> None:
        """Takes the keys, values and masks of the sentences of `groups`; copies only when these
        change."""
        if groups.sentence_bytes == self._present_sentences:
            return
        self._present_sentences = groups.sentence_bytes
        if len(groups.sentences) == len(self._mask):
            self._present, self._present_mask = self._keys_values, self._mask
        else:
            part = groups.sentences  # [g]
            self._present = [(keys[part], values[part]) for keys, values in self._keys_values]
            self._present_mask = self._mask[part]
