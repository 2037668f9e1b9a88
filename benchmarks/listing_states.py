"""fairseq's incremental decoding, as the listing's searches use it.

`AlignedRows` is fairseq's usual way, for searches whose rows all have the same length: the
decoder's own forward with an incremental state, which is re-ordered when hypotheses change places.

`NodeNetwork` serves a tree search, whose nodes have different lengths and are visited in any order.
Each node's state is kept by itself; for a batch the states are stacked into fairseq's incremental
state and taken apart again afterwards. Padding on the left makes their lengths equal, so that one
pass does for all; the sources' keys and values are computed once per sentence; and states that were
taken apart are views, not copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fairseq_mcts.models.multiquery_attention import CACHE_NAME

# per layer the keys and values [t, d] of the tokens fed so far
State = list[tuple[Tensor, Tensor]]


def encode(model: Any, sources: Sequence[Tensor]) -> dict[str, list[Tensor]]:
    """The encoder's output for all sentences."""
    tokens = torch.nn.utils.rnn.pad_sequence(
        list(sources), batch_first=True, padding_value=model.encoder.dictionary.pad()
    )
    lengths = torch.tensor([len(source) for source in sources])
    encoder_out: dict[str, list[Tensor]] = model.encoder(tokens, src_lengths=lengths)
    return encoder_out


class AlignedRows:
    """Hypotheses of one length: what the decoder remembers of each, and its source."""

    def __init__(
        self, model: Any, encoder_out: dict[str, list[Tensor]], incremental: dict[str, Any]
    ) -> None:
        self._model = model
        self._encoder_out = encoder_out
        self._incremental = incremental

    @classmethod
    def begin(cls, model: Any, sources: Sequence[Tensor], copies: int) -> AlignedRows:
        """`copies` neighbouring rows for each sentence, with nothing fed yet."""
        rows = torch.arange(len(sources)).repeat_interleave(copies)
        encoder_out = model.encoder.reorder_encoder_out(encode(model, sources), rows)
        return cls(model, encoder_out, {})

    def policies(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities [n, V] and values [n] after the last column of `tokens` [n, t]."""
        logits, extra = self._model.decoder(
            tokens, encoder_out=self._encoder_out, incremental_state=self._incremental
        )
        return torch.log_softmax(logits[:, -1], dim=-1), extra["value"][:, -1]

    def values(self, tokens: Tensor) -> Tensor:
        """Values [n] alone, which spares the output layer."""
        _, extra = self._model.decoder(
            tokens,
            encoder_out=self._encoder_out,
            incremental_state=self._incremental,
            features_only=True,
        )
        return extra["value"][:, -1]

    def reordered(self, rows: Tensor) -> AlignedRows:
        """Rows that go on from these, each from any of them; these stay as they are."""
        incremental = {module: dict(cache) for module, cache in self._incremental.items()}
        self._model.decoder.reorder_incremental_state_scripting(incremental, rows)
        encoder_out = self._model.encoder.reorder_encoder_out(self._encoder_out, rows)
        return AlignedRows(self._model, encoder_out, incremental)


@dataclass
class StackedRows:
    """States of several nodes as one incremental state, padded on the left."""

    incremental: dict[str, Any]
    source: Tensor  # [n, T, C]
    source_mask: Tensor  # [n, 1, T]
    lengths: Tensor  # [n] tokens fed so far
    padding: Tensor  # [n] columns in front of a row's first token


class NodeNetwork:
    """A dual-head multi-query model through its own layers and fairseq's incremental state."""

    def __init__(self, model: Any, sources: Sequence[Tensor]) -> None:
        self.decoder = model.decoder
        encoder_out = encode(model, sources)
        self.source = encoder_out["encoder_out"][0].transpose(0, 1)  # [S, T, C]
        self.source_mask = encoder_out["encoder_padding_mask"][0].unsqueeze(1)  # [S, 1, T]
        self.source_keys = [
            (layer.encoder_attn.k_proj(self.source), layer.encoder_attn.v_proj(self.source))
            for layer in self.decoder.layers
        ]
        self.size = self.decoder.layers[0].self_attn.head_dim

    def empty_state(self) -> State:
        return [(torch.empty(0, self.size), torch.empty(0, self.size)) for _ in self.source_keys]

    def stack(self, states: Sequence[State], sentences: Tensor) -> StackedRows:
        lengths = torch.tensor([len(state[0][0]) for state in states])
        longest = int(lengths.max())
        incremental: dict[str, Any] = {}
        for index, layer in enumerate(self.decoder.layers):
            own = torch.zeros(2, len(states), longest, self.size)
            for row, state in enumerate(states):
                for side, rows in enumerate(state[index]):
                    own[side, row, longest - len(rows) :] = rows
            source = [side[sentences] for side in self.source_keys[index]]
            for attention, (key, value) in ((layer.self_attn, own), (layer.encoder_attn, source)):
                attention.set_incremental_state(
                    incremental, CACHE_NAME, {"prev_key": key, "prev_value": value}
                )
        return StackedRows(
            incremental,
            self.source[sentences],
            self.source_mask[sentences],
            lengths,
            longest - lengths,
        )

    def feed(self, stacked: StackedRows, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, V] and values [n] after one more token [n]; the rows grow by it."""
        decoder = self.decoder
        positions = decoder.embed_positions.weight[
            stacked.lengths + decoder.embed_positions.padding_idx + 1
        ]
        x = decoder.embed_scale * decoder.embed_tokens(tokens) + positions
        x = x.unsqueeze(1)  # [n, 1, C]
        columns = int(stacked.lengths[0] + stacked.padding[0]) + 1  # the new token's included
        hidden = torch.arange(columns) < stacked.padding[:, None]  # [n, columns]
        for layer in decoder.layers:
            x, _ = layer(
                x,
                stacked.source,
                encoder_mask=stacked.source_mask,
                self_attn_mask=hidden.unsqueeze(1),
                incremental_state=stacked.incremental,
                need_weights=False,
            )
        stacked.lengths = stacked.lengths + 1
        features = decoder.layer_norm(x).squeeze(1)  # [n, C]
        return decoder.output_layer(features), decoder.value_head(features)[1]

    def take_apart(self, stacked: StackedRows) -> list[State]:
        caches = [
            layer.self_attn.get_incremental_state(stacked.incremental, CACHE_NAME)
            for layer in self.decoder.layers
        ]
        return [
            [(cache["prev_key"][row, pad:], cache["prev_value"][row, pad:]) for cache in caches]
            for row, pad in enumerate(stacked.padding.tolist())
        ]
