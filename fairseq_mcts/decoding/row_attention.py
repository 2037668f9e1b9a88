"""Attention of single queries, one a row, to keys of the row's own or of its whole group.

Two kinds: multi-query (all heads read one key and value) and multi-head (one for each head). Their
tensors differ, so each kind has its own `attend` and `attend_groups`. Queries come in scaled.
"""

import math
from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_mcts.decoding.key_value_pool import KeyValuePool
from fairseq_mcts.decoding.slot_attention import attend_paths
from fairseq_mcts.decoding.step_batch import MIN_ROWS, SentenceGroups, StepBatch
from fairseq_mcts.models.network import Network


class RowAttention(ABC):
    """The shapes of one attention module, and how its queries [n, H, d] meet keys and values.

    K stands for the shape of one key row.
    """

    def __init__(self, attention: Network, key_shape: tuple[int, ...]) -> None:
        """`key_shape` is K."""
        self._attention = attention
        self.heads: int = attention.num_heads
        self.size: int = attention.head_dim  # d
        self.key_shape = key_shape
        self._width = self.heads * self.size

    def attend_path_on_host(
        self, joint: Tensor, pool: KeyValuePool, layer: int, batch: StepBatch
    ) -> Tensor:
        """Queries, keys and values of the rows [n, H * d + 2 |K|] -> [n, H * d].

        Stores the rows' keys and values in the pool; then each row attends to those of its path,
        its own included.
        """
        attended = joint.new_empty((len(joint), self.heads, self.size))
        shape = (pool.capacity, -1, self.size)
        attend_paths(
            joint.numpy(),
            pool.keys[layer].view(shape).numpy(),
            pool.values[layer].view(shape).numpy(),
            batch.numpy_paths,
            batch.depths.numpy(),
            attended.numpy(),
        )
        return attended.flatten(1)

    def attend_path_on_device(
        self, joint: Tensor, pool: KeyValuePool, layer: int, batch: StepBatch
    ) -> Tensor:
        """`attend_path_on_host` by tensor operations."""
        key_width = math.prod(self.key_shape)
        query, key, value = torch.split(joint, [self._width, key_width, key_width], dim=1)
        shape = (len(joint), *self.key_shape)
        pool.write(layer, batch.slots, key.reshape(shape), value.reshape(shape))
        keys, values = pool.read(layer, batch.paths)
        query = query.reshape(len(joint), self.heads, self.size)
        return self.attend(query, keys, values, batch.path_mask)

    @abstractmethod
    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Each row to keys of its own [n, L, K] under a mask [n, L]; [n, H * d]."""

    @abstractmethod
    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        """Each row to the keys of its group [g, T, K] under a mask [g, T]; [n, H * d]."""

    def key_value(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """[..., C] -> keys and values [..., K] of a source that many rows attend to."""
        shape = (*source.shape[:-1], *self.key_shape)
        return (
            self._attention.k_proj(source).view(shape),
            self._attention.v_proj(source).view(shape),
        )


class MultiQueryRows(RowAttention):
    """For `MultiQueryAttention`: key rows are [d], queries of all heads read them as one matrix."""

    def __init__(self, attention: Network) -> None:
        super().__init__(attention, key_shape=(attention.head_dim,))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        bias = mask.unsqueeze(1).expand(-1, query.size(1), -1)  # [n, H, L]
        weights = torch.softmax(torch.baddbmm(bias, query, key.transpose(1, 2)), dim=-1)
        return torch.bmm(weights, value).flatten(1)

    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        # all heads of a sentence's rows are one product
        multiple = MIN_ROWS // math.gcd(MIN_ROWS, self.heads)
        grouped = groups.gather(query, multiple).flatten(1, 2)  # [g, c * H, d]
        attended = self.attend(grouped, key, value, mask)  # [g, c * H * d]
        return groups.scatter(attended.view(len(grouped), -1, self._width), multiple)


class MultiHeadRows(RowAttention):
    """For fairseq's `MultiheadAttention`: key rows are [H, d]."""

    def __init__(self, attention: Network) -> None:
        super().__init__(attention, key_shape=(attention.num_heads, attention.head_dim))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        return self._attend(query.unsqueeze(1), key, value, mask).flatten(1)

    def attend_groups(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, groups: SentenceGroups
    ) -> Tensor:
        grouped = groups.gather(query, MIN_ROWS)  # [g, c, H, d]
        attended = self._attend(grouped, key, value, mask)
        return groups.scatter(attended.flatten(2), MIN_ROWS)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Queries [g, c, H, d] to keys and values [g, T, H, d] under [g, T]; [g, c, H, d]."""
        return F.scaled_dot_product_attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            attn_mask=mask[:, None, None, :],
            scale=1.0,
        ).transpose(1, 2)
