"""Attention of single queries, one a row, to keys that each row has for itself or shares.

Two kinds: multi-query (all heads read one key and value) and multi-head (one for each head). Their
tensors differ, so each kind brings its own `attend` and `attend_groups`; queries come in scaled.
"""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_mcts.decoding import Network
from fairseq_mcts.decoding.step_batch import MIN_ROWS, SentenceGroups


class RowAttention(Protocol):
    """How queries [n, H, d] meet keys and values; K stands for the shape of one key row."""

    key_shape: tuple[int, ...]  # K

    def query(self, x: Tensor) -> Tensor:
        """[n, C] -> scaled queries [n, H, d]."""
        ...

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """[..., C] -> keys and values [..., K]."""
        ...

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Each row to keys of its own [n, L, K] under a mask [n, L]; [n, H * d]."""
        ...

    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        """Each row to the keys of its group [g, T, K] under a mask [g, T]; [n, H * d]."""
        ...


class MultiQueryRows:
    """For `MultiQueryAttention`: key rows are [d], queries of all heads read them as one matrix."""

    def __init__(self, attention: Network) -> None:
        self._attention = attention
        self._heads: int = attention.num_heads
        self._size: int = attention.head_dim
        self.key_shape: tuple[int, ...] = (self._size,)

    def query(self, x: Tensor) -> Tensor:
        attention = self._attention
        return (attention.q_proj(x) * attention.scaling).view(len(x), self._heads, self._size)

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self._attention.k_proj(x), self._attention.v_proj(x)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        bias = mask.unsqueeze(1).expand(-1, query.size(1), -1)  # [n, H, L]
        weights = torch.softmax(torch.baddbmm(bias, query, key.transpose(1, 2)), dim=-1)
        return torch.bmm(weights, value).flatten(1)

    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        if groups.trivial and self._heads >= MIN_ROWS:  # all heads of a row are one product
            return self.attend(query, key, value, mask)
        grouped = query[groups.rows].flatten(1, 2)  # [g, c * H, d]
        attended = self.attend(grouped, key, value, mask)  # [g, c * H * d]
        return attended.view(-1, self._heads * self._size)[groups.places]


class MultiHeadRows:
    """For fairseq's `MultiheadAttention`: key rows are [H, d]."""

    def __init__(self, attention: Network) -> None:
        self._attention = attention
        self._heads: int = attention.num_heads
        self._size: int = attention.head_dim
        self.key_shape: tuple[int, ...] = (self._heads, self._size)

    def query(self, x: Tensor) -> Tensor:
        attention = self._attention
        return (attention.q_proj(x) * attention.scaling).view(len(x), self._heads, self._size)

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        shape = (*x.shape[:-1], self._heads, self._size)
        return self._attention.k_proj(x).view(shape), self._attention.v_proj(x).view(shape)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        return self._attend(query.unsqueeze(1), key, value, mask).flatten(1)

    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        attended = self._attend(query[groups.rows], key, value, mask)  # [g, c, H, d]
        return attended.reshape(-1, self._heads * self._size)[groups.places]

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Queries [g, c, H, d] to keys and values [g, T, H, d] under [g, T]; [g, c, H, d]."""
        return F.scaled_dot_product_attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            attn_mask=mask[:, None, None, :],
            scale=1.0,
        ).transpose(1, 2)
