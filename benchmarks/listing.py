"""V-MCTS the way the paper's listing does it, for `against_listing.py`.

All sentences go in lock-step: every simulation descends in all of them, evaluates one prefix of
each in one batch, and backs up in all of them, with numpy over [B, nodes, actions]. Each node's
decoder state is an entry of a dictionary. For a batch, the states of its nodes are stacked into
fairseq's incremental state and taken apart again afterwards. Each output token begins a fresh tree
with an evaluation of its root; nothing is remembered from the last one.

The rules are those of this project (the listing lacks the end of sentences, max backup and choice
by value). Where the listing leaves a choice, it is the faster one: states of different lengths are
padded and go through the network together, the sources' keys and values are kept once per
sentence, states are views and not copies, and finished sentences leave between two tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.models.multiquery_attention import CACHE_NAME
from fairseq_mcts.search.options import MctsOptions

# per layer the keys and values [t, d] of the tokens fed so far
State = list[tuple[Tensor, Tensor]]
ROOT = 0
UNEXPLORED = -1
SMALLEST_SPREAD = 1e-6


class IncrementalNetwork:
    """A dual-head multi-query model through its own layers and fairseq's incremental state."""

    def __init__(self, model: Any, sources: Sequence[Tensor]) -> None:
        self.decoder = model.decoder
        self.eos = model.decoder.dictionary.eos()
        self.pad = model.decoder.dictionary.pad()
        tokens = torch.nn.utils.rnn.pad_sequence(
            list(sources), batch_first=True, padding_value=self.pad
        )
        lengths = torch.tensor([len(source) for source in sources])
        encoder_out = model.encoder(tokens, src_lengths=lengths)
        self.source = encoder_out["encoder_out"][0].transpose(0, 1)  # [S, T, C]
        self.source_mask = encoder_out["encoder_padding_mask"][0].unsqueeze(1)  # [S, 1, T]
        self.source_keys = [
            (layer.encoder_attn.k_proj(self.source), layer.encoder_attn.v_proj(self.source))
            for layer in self.decoder.layers
        ]
        self.size = self.decoder.layers[0].self_attn.head_dim

    def empty_state(self) -> State:
        return [(torch.empty(0, self.size), torch.empty(0, self.size)) for _ in self.source_keys]

    def feed(
        self, states: Sequence[State], tokens: Sequence[int], sentences: Tensor
    ) -> tuple[Tensor, Tensor, list[State]]:
        """Log-probabilities [B, V], values [B] and states after one more token in each row."""
        decoder = self.decoder
        lengths = torch.tensor([len(state[0][0]) for state in states])
        longest = int(lengths.max())
        incremental = self._stacked(states, longest, sentences)
        # rows are padded on the left, and the newest token comes behind: it sees itself always
        hidden = torch.arange(longest + 1) < (longest - lengths)[:, None]  # [B, longest + 1]
        positions = decoder.embed_positions.weight[
            lengths + decoder.embed_positions.padding_idx + 1
        ]
        x = decoder.embed_scale * decoder.embed_tokens(torch.tensor(tokens)) + positions
        x = x.unsqueeze(1)  # [B, 1, C]
        for layer in decoder.layers:
            x, _ = layer(
                x,
                self.source[sentences],
                encoder_mask=self.source_mask[sentences],
                self_attn_mask=hidden.unsqueeze(1),
                incremental_state=incremental,
                need_weights=False,
            )
        features = decoder.layer_norm(x).squeeze(1)  # [B, C]
        logprobs = torch.log_softmax(decoder.output_layer(features), dim=-1)
        values = decoder.value_head(features)[1]
        return logprobs, values, self._taken_apart(incremental, (longest - lengths).tolist())

    def _stacked(self, states: Sequence[State], longest: int, sentences: Tensor) -> dict[str, Any]:
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
        return incremental

    def _taken_apart(self, incremental: dict[str, Any], padding: list[int]) -> list[State]:
        caches = [
            layer.self_attn.get_incremental_state(incremental, CACHE_NAME)
            for layer in self.decoder.layers
        ]
        return [
            [(cache["prev_key"][row, pad:], cache["prev_value"][row, pad:]) for cache in caches]
            for row, pad in enumerate(padding)
        ]


class TokenSearch:
    """The tree of one output token for B sentences; node i is the i-th one that was opened."""

    def __init__(self, batch: int, options: MctsOptions) -> None:
        self.options = options
        nodes, actions = int(options.simulations) + 1, options.actions
        self.rows = np.arange(batch)
        self.states: dict[tuple[int, int], State] = {}  # by (row, node)
        self.raw_values = np.zeros((batch, nodes))
        self.values = np.zeros((batch, nodes))
        self.visits = np.zeros((batch, nodes), np.int64)
        self.parents = np.full((batch, nodes), UNEXPLORED)
        self.terminal = np.zeros((batch, nodes), np.bool_)
        self.tokens = np.zeros((batch, nodes, actions), np.int64)
        self.children = np.full((batch, nodes, actions), UNEXPLORED)
        self.prior = np.zeros((batch, nodes, actions))
        self.lowest = np.full(batch, np.inf)
        self.highest = np.full(batch, -np.inf)

    def simulate(self) -> tuple[np.ndarray, np.ndarray]:
        """[B] the nodes that selection ends at, and [B] the actions that it wants to take there."""
        node = np.zeros(len(self.rows), np.int64)
        while True:
            action = self.select(node)
            child = self.children[self.rows, node, action]
            stops = (child == UNEXPLORED) | self.terminal[self.rows, child]
            if stops.all():
                return node, action
            node = np.where(stops, node, child)

    def select(self, node: np.ndarray) -> np.ndarray:
        child = self.children[self.rows, node]  # [B, A]
        explored = child != UNEXPLORED
        visits = np.where(explored, self.visits[self.rows[:, None], child], 0)
        spread = np.maximum(self.highest - self.lowest, SMALLEST_SPREAD)[:, None]
        value = (self.values[self.rows[:, None], child] - self.lowest[:, None]) / spread
        bonus = self.prior[self.rows, node] * np.sqrt(self.visits[self.rows, node])[:, None]
        allowed = self.prior[self.rows, node] > 0
        score = np.where(explored, value, 0.0) + self.options.c_puct * bonus / (1 + visits)
        return np.where(allowed, score, -np.inf).argmax(axis=1)

    def backward(self, leaf: np.ndarray) -> None:
        """Carries the leaves' own values up to the roots."""
        value = self.raw_values[self.rows, leaf]
        node = leaf
        while (node != ROOT).any():
            below = np.flatnonzero(node != ROOT)
            node = np.where(node == ROOT, ROOT, self.parents[self.rows, node])
            where = (below, node[below])
            self.visits[where] += 1
            if self.options.backup == "max":
                self.values[where] = np.maximum(self.values[where], value[below])
            else:
                self.values[where] += (value[below] - self.values[where]) / self.visits[where]

    def chosen(self) -> np.ndarray:
        """[B] actions of the roots."""
        child = self.children[:, ROOT]
        explored = child != UNEXPLORED
        worth = self.visits if self.options.choose == "visits" else self.values
        worth = np.where(explored, worth[self.rows[:, None], child], -np.inf)
        return worth.argmax(axis=1)


class ListingDecoder:
    """Decodes sentences token by token, each with a `TokenSearch`."""

    def __init__(
        self,
        model: Any,
        sources: Sequence[Tensor],
        options: MctsOptions,
        min_len: int,
        max_len: int,
    ) -> None:
        self.network = IncrementalNetwork(model, sources)
        self.options = options
        self.min_len, self.max_len = min_len, max_len
        self.evaluations = 0  # rows given to the network

    def decode(self) -> list[tuple[int, ...]]:
        """The tokens of each sentence, eos included."""
        count = len(self.network.source)
        outputs: list[list[int]] = [[] for _ in range(count)]
        states = [self.network.empty_state() for _ in range(count)]
        active = list(range(count))
        while active:
            search = self._search(active, outputs, states)
            actions = search.chosen()
            for row, sentence in enumerate(active):
                outputs[sentence].append(int(search.tokens[row, ROOT, actions[row]]))
                states[sentence] = search.states[row, ROOT]
            active = [one for one in active if outputs[one][-1] != self.network.eos]
        return [tuple(tokens) for tokens in outputs]

    def _search(
        self, active: list[int], outputs: list[list[int]], states: list[State]
    ) -> TokenSearch:
        search = TokenSearch(len(active), self.options)
        sentences = torch.tensor(active)
        depth = np.array([len(outputs[one]) for one in active])
        last = [(outputs[one] or [self.network.eos])[-1] for one in active]
        everywhere = search.rows
        self._open(
            search, ROOT, [states[one] for one in active], last, sentences, depth, everywhere
        )
        depths = np.zeros(search.visits.shape, np.int64)  # [B, nodes]
        depths[:, ROOT] = depth
        for node in range(1, int(self.options.simulations) + 1):
            parent, action = search.simulate()
            child = search.children[search.rows, parent, action]
            tokens = search.tokens[search.rows, parent, action]
            fresh = np.flatnonzero(child == UNEXPLORED)
            depths[:, node] = depths[search.rows, parent] + 1
            before = [search.states[row, one] for row, one in enumerate(parent.tolist())]
            # rows that arrived at a finished sentence are computed too: the batch goes in lock-step
            self._open(search, node, before, tokens.tolist(), sentences, depths[:, node], fresh)
            search.parents[fresh, node] = parent[fresh]
            search.children[fresh, parent[fresh], action[fresh]] = node
            again = np.flatnonzero(child != UNEXPLORED)
            search.visits[again, child[again]] += 1
            search.backward(np.where(child == UNEXPLORED, node, child))
        return search

    def _open(
        self,
        search: TokenSearch,
        node: int,
        states: list[State],
        tokens: list[int],
        sentences: Tensor,
        depths: np.ndarray,
        fresh: np.ndarray,  # rows that really get this node
    ) -> None:
        """Evaluates one prefix of every sentence and makes nodes of them."""
        logprobs, values, after = self.network.feed(states, tokens, sentences)
        self.evaluations += len(states)
        for row in fresh.tolist():
            search.states[row, node] = after[row]
        weights, best = self._prior(logprobs, depths)
        actions = best.shape[1]
        search.tokens[:, node, :actions] = best.numpy()
        search.prior[:, node, :actions] = weights.numpy()
        search.terminal[fresh, node] = (np.array(tokens) == self.network.eos)[fresh]
        if node == ROOT:  # eos is what the empty prefix begins with
            search.terminal[:, ROOT] = False
        raw = values.double().numpy()
        search.raw_values[fresh, node] = search.values[fresh, node] = raw[fresh]
        search.visits[fresh, node] = 1
        search.lowest[fresh] = np.minimum(search.lowest[fresh], raw[fresh])
        search.highest[fresh] = np.maximum(search.highest[fresh], raw[fresh])

    def _prior(self, logprobs: Tensor, depths: np.ndarray) -> tuple[Tensor, Tensor]:
        """[B, A] the best allowed tokens' tempered probabilities, best first, and the tokens."""
        eos = self.network.eos
        logprobs[:, self.network.pad] = -torch.inf
        logprobs[torch.from_numpy(depths < self.min_len), eos] = -torch.inf
        at_limit = torch.from_numpy(depths >= self.max_len)
        only_eos = torch.full_like(logprobs[0], -torch.inf)
        only_eos[eos] = 0.0
        logprobs[at_limit] = only_eos
        policy = torch.softmax(logprobs / self.options.temperature, dim=-1)
        weights, tokens = policy.topk(min(self.options.actions, policy.size(1)), dim=-1)
        return weights.double(), tokens


def decode_by_listing(
    model: Any, sources: Sequence[Tensor], options: MctsOptions, *, min_len: int, max_len: int
) -> tuple[list[tuple[int, ...]], int]:
    """The translations, and how many rows the network was given."""
    with torch.no_grad():
        decoder = ListingDecoder(model, sources, options, min_len=min_len, max_len=max_len)
        return decoder.decode(), decoder.evaluations
