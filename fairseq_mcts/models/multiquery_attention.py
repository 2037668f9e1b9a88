"""Multi-query attention: many query heads that read one shared key and one shared value.

An incremental decoder then keeps one key and one value row per position, instead of one per
position and head: a cache `num_heads` times smaller than that of multi-head attention
(Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need").
"""

from typing import TypeAlias

import torch
from fairseq.incremental_decoding_utils import FairseqIncrementalState
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

#: fairseq's carrier of everything that incremental decoding remembers: module key → tensors.
IncrementalState: TypeAlias = dict[str, dict[str, Tensor]]

CACHE_NAME = "attn_state"


class MultiQueryAttention(FairseqIncrementalState, nn.Module):  # type: ignore[misc]
    """Attention of `num_heads` queries over one key and one value of size `head_dim`.

    All heads of all positions of a sentence are the rows of one matrix, so scores and outputs
    are one batched product each and nothing is transposed or copied for the sake of the heads.

    Per sentence with T queries and S keys: O(T·S·num_heads·head_dim) time; a cache of
    2·S·head_dim numbers in incremental decoding.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        head_dim: int,
        *,
        source_dim: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        """`source_dim` is the width of what keys and values are made from: in cross attention
        that of the encoder, otherwise `embed_dim`."""
        super().__init__()
        source_dim = embed_dim if source_dim is None else source_dim
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.scaling = head_dim**-0.5
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        # A bias of the key would shift all scores of a query alike, which softmax undoes:
        # it could never learn anything, so there is none.
        self.k_proj = nn.Linear(source_dim, head_dim, bias=False)
        self.v_proj = nn.Linear(source_dim, head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)
        self.dropout_module = FairseqDropout(dropout, module_name=type(self).__name__)

    def forward(
        self,
        query: Tensor,  # [B, T, C]
        source: Tensor,  # [B, S, source_dim]
        *,
        mask: Tensor | None = None,  # bool, broadcasts to [B, T, S]; True hides a key
        incremental_state: IncrementalState | None = None,
        static_source: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the output [B, T, C] and, if wanted, the heads' mean weights [B, T, S].

        With an `incremental_state`, `source` holds only what is new and is appended to what
        earlier calls left there. If `static_source`, it is the same in every call (the encoder's
        output): projected once, then always read from the state.
        """
        key, value = self._keys_and_values(source, incremental_state, static_source)
        batch, queries = query.shape[:2]
        keys = key.size(1)

        # Scaling the query rather than the scores keeps float16 scores far from overflow.
        q = (self.q_proj(query) * self.scaling).view(batch, queries * self.num_heads, self.head_dim)
        scores = torch.bmm(q, key.transpose(1, 2)).view(batch, queries, self.num_heads, keys)
        if mask is not None:
            # The lowest number, not -inf: a query without any key to see (a padded position
            # of a left-padded batch) gets uniform weights instead of NaN.
            scores = scores.masked_fill(mask.unsqueeze(-2), torch.finfo(scores.dtype).min)
        # [B, T, heads, S]; float32 whatever the model's precision
        weights = torch.softmax(scores, dim=-1, dtype=torch.float32)

        dropped = self.dropout_module(weights.to(value.dtype))
        heads = torch.bmm(dropped.view(batch, queries * self.num_heads, keys), value)
        output: Tensor = self.out_proj(heads.view(batch, queries, self.num_heads * self.head_dim))
        return output, weights.mean(dim=2) if need_weights else None

    def _keys_and_values(
        self, source: Tensor, incremental_state: IncrementalState | None, static_source: bool
    ) -> tuple[Tensor, Tensor]:
        """Keys and values [B, S, head_dim] of everything seen so far; updates the state."""
        cache = FairseqIncrementalState.get_incremental_state(self, incremental_state, CACHE_NAME)
        if cache is not None and static_source:
            return cache["prev_key"], cache["prev_value"]

        key, value = self.k_proj(source), self.v_proj(source)
        if cache is not None:
            key = torch.cat([cache["prev_key"], key], dim=1)
            value = torch.cat([cache["prev_value"], value], dim=1)
        new = {"prev_key": key, "prev_value": value}
        FairseqIncrementalState.set_incremental_state(self, incremental_state, CACHE_NAME, new)
        return key, value

    def reorder_incremental_state(
        self, incremental_state: IncrementalState, new_order: Tensor
    ) -> None:
        """Lets row i of the cache become its row `new_order[i]`, of [B'] (fairseq's protocol).

        Cross attention is reordered as well, though a beam search moves rows only within a
        sentence: a caller that moves them across sentences must not read another's source.
        """
        cache = FairseqIncrementalState.get_incremental_state(self, incremental_state, CACHE_NAME)
        if cache is not None:
            new = {name: rows.index_select(0, new_order) for name, rows in cache.items()}
            FairseqIncrementalState.set_incremental_state(self, incremental_state, CACHE_NAME, new)
