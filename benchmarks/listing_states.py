"""fairseq's incremental decoding, as the listing's searches use it.

`NodeNetwork` is the listing's way. Each node's state is kept by itself; for a batch the states are
stacked into fairseq's incremental state and taken apart again afterwards. Padding on the left makes
their lengths equal, so that one pass does for all; the sources' keys and values are computed once
per sentence; and states that were taken apart are views, not copies. A tree search, whose nodes
have different lengths and are visited in any order, can hardly do otherwise.

Beams and samples go on in step, so two ways are open to them. `RowsInDictionary` is the listing's.
`AlignedRows` is fairseq's own: one incremental state for all rows, which is re-ordered when
hypotheses change places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from fairseq_mcts.decoding.stepper import position_rows
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


class Rows(Protocol):
    """Hypotheses of one length, and what the decoder remembers of each."""

    def policies(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities [n, V] and values [n] after the last column of `tokens` [n, t]."""
        ...

    def values(self, tokens: Tensor) -> Tensor:
        """Values [n] alone, which spares the output layer."""
        ...

    def reordered(self, rows: Tensor) -> Rows:
        """Rows that go on from these, each from any of them; these stay as they are."""
        ...


# of a model, sources, and how many neighbouring rows each of them gets
BeginRows = Callable[[Any, Sequence[Tensor], int], Rows]


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
        logits, extra = self._model.decoder(
            tokens, encoder_out=self._encoder_out, incremental_state=self._incremental
        )
        return torch.log_softmax(logits[:, -1], dim=-1), extra["value"][:, -1]

    def values(self, tokens: Tensor) -> Tensor:
        _, extra = self._model.decoder(
            tokens,
            encoder_out=self._encoder_out,
            incremental_state=self._incremental,
            features_only=True,
        )
        return extra["value"][:, -1]

    def reordered(self, rows: Tensor) -> AlignedRows:
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
            # not read, since its keys and values are in the incremental state: no copies of it
            self.source[:1].expand(len(states), -1, -1),
            self.source_mask[sentences],
            lengths,
            longest - lengths,
        )

    def feed(self, stacked: StackedRows, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, V] and values [n] after one more token [n]; the rows grow by it."""
        features = self.features(stacked, tokens)
        return self.decoder.output_layer(features), self.decoder.value_head(features)[1]

    def features(self, stacked: StackedRows, tokens: Tensor) -> Tensor:
        """[n, C] what both heads read after one more token [n]; the rows grow by it."""
        decoder = self.decoder
        longest = int(stacked.lengths.max()) + 1
        positions = position_rows(decoder.embed_positions, stacked.lengths, longest)
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
        features: Tensor = decoder.layer_norm(x).squeeze(1)
        return features

    def take_apart(self, stacked: StackedRows) -> list[State]:
        caches = [
            layer.self_attn.get_incremental_state(stacked.incremental, CACHE_NAME)
            for layer in self.decoder.layers
        ]
        return [
            [(cache["prev_key"][row, pad:], cache["prev_value"][row, pad:]) for cache in caches]
            for row, pad in enumerate(stacked.padding.tolist())
        ]


class RowsInDictionary:
    """Hypotheses of one length, a state of its own for each; see `Rows`."""

    def __init__(self, network: NodeNetwork, sentences: Tensor, states: dict[int, State]) -> None:
        self._network = network
        self._sentences = sentences  # [n]
        self._states = states  # by row

    @classmethod
    def begin(cls, model: Any, sources: Sequence[Tensor], copies: int) -> RowsInDictionary:
        """`copies` neighbouring rows for each sentence, with nothing fed yet."""
        network = NodeNetwork(model, sources)
        sentences = torch.arange(len(sources)).repeat_interleave(copies)
        return cls(
            network, sentences, {row: network.empty_state() for row in range(len(sentences))}
        )

    def policies(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        features = self._features(tokens)
        decoder = self._network.decoder
        logprobs = torch.log_softmax(decoder.output_layer(features), dim=-1)
        return logprobs, decoder.value_head(features)[1]

    def values(self, tokens: Tensor) -> Tensor:
        values: Tensor = self._network.decoder.value_head(self._features(tokens))[1]
        return values

    def _features(self, tokens: Tensor) -> Tensor:
        """[n, C] after the last of `tokens` [n, t]; the states are those behind it from now on."""
        stacked = self._network.stack(list(self._states.values()), self._sentences)
        features = self._network.features(stacked, tokens[:, -1])
        self._states = dict(enumerate(self._network.take_apart(stacked)))
        return features

    def reordered(self, rows: Tensor) -> RowsInDictionary:
        states = {row: self._states[before] for row, before in enumerate(rows.tolist())}
        return RowsInDictionary(self._network, self._sentences[rows], states)
