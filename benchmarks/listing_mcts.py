"""MCTS the way the paper's listing does it, for `against_listing.py`.

All sentences go in lock-step: every simulation descends in all of them, evaluates one prefix of
each in one batch, and backs up in all of them, with numpy over [B, nodes, actions]. Each node's
decoder state is an entry of a dictionary; `listing_states.NodeNetwork` says how a batch is made of
them. Each output token begins a fresh tree with an evaluation of its root; nothing is remembered
from the last one. With rollouts, the batch of new leaves goes on greedily until the last one is
finished, and the metric sees all completions at once; the leaf's own evaluation gives the first
token, and the states of the completion are thrown away.

The rules are those of this project (the listing lacks the end of sentences, max backup, choice by
value and rollouts). Where the listing leaves a choice, it is the faster one; so finished sentences
leave between two output tokens. Within a token's search they do not: a sentence that arrives at a
finished leaf once more is evaluated once more, as are completions that are finished before others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from listing_rules import Decoded, Rules
from listing_states import NodeNetwork, StackedRows, State
from torch import Tensor

from fairseq_mcts.search.decoders.mcts import MctsOptions

# scores of finished sentences: (sentences, their tokens) -> one number each
Score = Callable[[list[int], list[tuple[int, ...]]], list[float]]
ROOT = 0
UNEXPLORED = -1
SMALLEST_SPREAD = 1e-6


class TokenSearch:
    """The tree of one output token for B sentences; node i is the i-th one that was opened."""

    def __init__(self, roots: Sequence[tuple[int, ...]], options: MctsOptions) -> None:
        """`roots` are the tokens that were chosen so far, of each sentence."""
        self.options = options
        self.roots = roots
        batch = len(roots)
        nodes, actions = int(options.simulations) + 1, options.actions
        self.rows = np.arange(batch)
        self.states: dict[tuple[int, int], State] = {}  # by (row, node)
        self.depths = np.zeros((batch, nodes), np.int64)  # tokens of the prefixes
        self.depths[:, ROOT] = [len(prefix) for prefix in roots]
        self.last_token = np.zeros((batch, nodes), np.int64)  # last tokens of the prefixes
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

    def append(
        self,
        node: int,
        parent: np.ndarray,
        action: np.ndarray,
        tokens: np.ndarray,
        is_fresh: np.ndarray,
    ) -> None:
        """Ties the i-th node of every sentence [B] to its parent, where it really gets one."""
        fresh = np.flatnonzero(is_fresh)
        self.depths[:, node] = self.depths[self.rows, parent] + 1
        self.last_token[:, node] = tokens
        self.parents[:, node] = parent
        self.children[fresh, parent[fresh], action[fresh]] = node

    def take_values(self, node: int, values: np.ndarray, is_fresh: np.ndarray) -> None:
        """[B] values of the new nodes themselves, where there really is one."""
        fresh = np.flatnonzero(is_fresh)
        self.raw_values[fresh, node] = self.values[fresh, node] = values[fresh]
        self.visits[fresh, node] = 1
        self.lowest[fresh] = np.minimum(self.lowest[fresh], values[fresh])
        self.highest[fresh] = np.maximum(self.highest[fresh], values[fresh])

    def prefix(self, row: int, node: int) -> tuple[int, ...]:
        """The tokens of a node, from the beginning of the sentence."""
        below: list[int] = []
        while node != ROOT:
            below.append(int(self.last_token[row, node]))
            node = int(self.parents[row, node])
        return (*self.roots[row], *reversed(below))

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


class _Decoder:
    """Decodes sentences token by token, each with a `TokenSearch`."""

    def __init__(
        self,
        model: Any,
        sources: Sequence[Tensor],
        options: MctsOptions,
        rules: Rules,
        score: Score | None,  # of rollouts
    ) -> None:
        self.network = NodeNetwork(model, sources)
        self.options = options
        self.rules = rules
        self.score = score
        self.outputs: list[tuple[int, ...]] = [() for _ in sources]
        self.states = [self.network.empty_state() for _ in sources]
        self.active = list(range(len(sources)))
        self.rows = self.rows_in_vain = 0

    def decode(self) -> Decoded:
        while self.active:
            search = self._search()
            actions = search.chosen()
            for row, sentence in enumerate(self.active):
                token = int(search.tokens[row, ROOT, actions[row]])
                self.outputs[sentence] += (token,)
                self.states[sentence] = search.states[row, ROOT]
            self.active = [one for one in self.active if self.outputs[one][-1] != self.rules.eos]
        return Decoded(self.outputs, self.rows, self.rows_in_vain)

    def _search(self) -> TokenSearch:
        search = TokenSearch([self.outputs[one] for one in self.active], self.options)
        last = np.array([(prefix or (self.rules.eos,))[-1] for prefix in search.roots])
        everywhere = np.ones(len(search.rows), np.bool_)
        self._open(search, ROOT, [self.states[one] for one in self.active], last, everywhere)
        for node in range(1, int(self.options.simulations) + 1):
            parent, action = search.simulate()
            child = search.children[search.rows, parent, action]
            tokens = search.tokens[search.rows, parent, action]  # [B]
            is_fresh = child == UNEXPLORED
            search.append(node, parent, action, tokens, is_fresh)
            before = [search.states[row, one] for row, one in enumerate(parent.tolist())]
            # rows that arrived at a finished sentence are computed too: the batch goes in lock-step
            self._open(search, node, before, tokens, is_fresh)
            search.visits[search.rows[~is_fresh], child[~is_fresh]] += 1
            search.backward(np.where(is_fresh, node, child))
        return search

    def _open(
        self,
        search: TokenSearch,
        node: int,
        states: list[State],  # [B] of the prefixes without their last tokens
        tokens: np.ndarray,  # [B] the last tokens
        is_fresh: np.ndarray,  # [B] rows that really get this node
    ) -> None:
        """Evaluates one prefix of every sentence and makes nodes of them."""
        stacked = self.network.stack(states, torch.tensor(self.active))
        logits, values = self.network.feed(stacked, torch.from_numpy(tokens))
        self._count(~is_fresh)
        after = self.network.take_apart(stacked)
        for row in np.flatnonzero(is_fresh).tolist():
            search.states[row, node] = after[row]
        logits = self.rules.forbid(logits, torch.from_numpy(search.depths[:, node]))
        policy = torch.softmax(logits / self.options.temperature, dim=-1)
        weights, best = policy.topk(min(self.options.actions, policy.size(1)), dim=-1)
        search.tokens[:, node, : best.size(1)] = best.numpy()
        search.prior[:, node, : best.size(1)] = weights.double().numpy()
        if node != ROOT:  # eos is what the empty prefix begins with
            search.terminal[:, node] = is_fresh & (tokens == self.rules.eos)
        raw = values.double().numpy()
        if self.options.leaf == "rollout":
            raw = self._roll_out(search, node, stacked, logits.argmax(dim=-1), ~is_fresh)
        search.take_values(node, raw, is_fresh)

    def _roll_out(
        self,
        search: TokenSearch,
        node: int,
        stacked: StackedRows,
        following: Tensor,  # [B] the most probable next tokens
        in_vain: np.ndarray,  # [B] rows whose completion nobody needs
    ) -> np.ndarray:
        """[B] scores of the greedy completions of all prefixes."""
        assert self.score is not None  # options of rollouts come with a metric
        eos = self.rules.eos
        texts = [search.prefix(row, node) for row in range(len(search.rows))]
        ended = in_vain | search.terminal[:, node]
        while True:
            for row in np.flatnonzero(~ended).tolist():
                texts[row] += (int(following[row]),)
            ended = ended | (following.numpy() == eos)
            if ended.all():
                break
            following = torch.where(torch.from_numpy(ended), self.rules.pad, following)
            logits, _ = self.network.feed(stacked, following)
            self._count(ended)
            depths = torch.tensor([len(text) for text in texts])
            following = self.rules.forbid(logits, depths).argmax(dim=-1)
        wanted = np.flatnonzero(~in_vain).tolist()
        scores = np.zeros(len(texts))
        scores[wanted] = self.score(
            [self.active[row] for row in wanted], [texts[row] for row in wanted]
        )
        return scores

    def _count(self, in_vain: np.ndarray) -> None:
        """[B] rows that go through the network though nobody needs what comes out."""
        self.rows += len(in_vain)
        self.rows_in_vain += int(in_vain.sum())


@torch.no_grad()
def decode_mcts(
    model: Any,
    sources: Sequence[Tensor],
    options: MctsOptions,
    rules: Rules,
    score: Score | None = None,
) -> Decoded:
    return _Decoder(model, sources, options, rules, score).decode()
