"""Value-guided beam search the way the paper's listing does MCTS, for `against_listing.py`.

Upon fairseq's incremental decoding (`listing_states.py` has two ways to keep its states), in
lock-step: in each step the k beams of every sentence are fed their last tokens, which gives the
policies; then each of the k·k one-token extensions is fed, from its beam's state, for its value;
the best extensions become the beams, with the states of their parents. So k + k² rows a step are
evaluated, as the paper counts them, and what an extension's evaluation left is thrown away. Only
values are computed of extensions. A sentence that is finished stays in the batch until all are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from listing_rules import Decoded, Rules
from listing_states import BeginRows, Rows
from torch import Tensor

from fairseq_mcts.search.decoders.vgbs import VgbsOptions

Finished = tuple[float, tuple[int, ...]]  # score, tokens


@torch.no_grad()
def decode_vgbs(
    model: Any,
    sources: Sequence[Tensor],
    options: VgbsOptions,
    rules: Rules,
    begin: BeginRows,  # how states are kept
) -> Decoded:
    network = begin(model, sources, int(options.beam))
    search = _BeamSearch(network, len(sources), options, rules)
    while not search.is_done.all():
        search.step()
    # of equal scores the one that finished first
    outputs = [max(found, key=lambda one: one[0])[1] for found in search.finished]
    return Decoded(outputs, search.rows, search.rows_in_vain)


class _BeamSearch:
    def __init__(self, network: Rows, count: int, options: VgbsOptions, rules: Rules) -> None:
        """`network` has a row for each beam of each of `count` sentences."""
        self.options, self.rules = options, rules
        self.width = width = int(options.beam)
        self.sentences = count
        self.network = network
        self.tokens = torch.full((count * width, 1), rules.eos)  # [S·k, t + 1]
        self.totals = np.zeros((count, width))  # [S, k] log-probabilities of the beams
        self.is_beam = np.zeros((count, width), np.bool_)
        self.is_beam[:, 0] = True  # all begin with the same empty prefix
        self.is_done = np.zeros(count, np.bool_)
        self.finished: list[list[Finished]] = [[] for _ in range(count)]
        self.rows = self.rows_in_vain = 0

    def step(self) -> None:
        logprobs, proposed, offered = self._propose()
        totals = self.totals[:, :, None] + np.where(offered, logprobs, 0.0)  # [S, k, k + 1]
        values = self._values(proposed, offered)
        length = self.tokens.size(1)  # eos in front stands for the extension's token
        score = (1 - self.options.alpha) * totals / length + self.options.alpha * values
        score = np.where(offered, score, -np.inf).reshape(self.sentences, -1)
        order = np.argsort(-score, axis=1, kind="stable")  # [S, k · (k + 1)]
        self._go_on(order, score, totals, proposed)

    def _propose(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[S, k, k + 1] log-probabilities, tokens, and which of them are really proposed."""
        logprobs, _ = self.network.policies(self.tokens)
        self._count(np.ones((self.sentences, self.width), np.bool_))
        if self.options.temperature != 1.0:
            logprobs = torch.log_softmax(logprobs / self.options.temperature, dim=-1)
        depths = torch.full((len(logprobs),), self.tokens.size(1) - 1)
        best, tokens = self.rules.forbid(logprobs, depths).topk(self.width + 1, dim=-1)
        shape = (self.sentences, self.width, self.width + 1)
        proposed, found = tokens.numpy().reshape(shape), best.double().numpy().reshape(shape)
        offered = np.isfinite(found) & self.is_beam[:, :, None]
        # one more than k where eos is among the first k
        offered[:, :, -1] &= (proposed[:, :, :-1] == self.rules.eos).any(axis=2)
        return found, proposed, offered

    def _values(self, proposed: np.ndarray, offered: np.ndarray) -> np.ndarray:
        """[S, k, k + 1] values of the extensions, 0 where nothing is proposed."""
        values = np.zeros(proposed.shape)
        if self.options.alpha == 0:
            return values
        beams = torch.from_numpy(np.flatnonzero(offered) // (self.width + 1))
        added = torch.from_numpy(proposed[offered])[:, None]
        extended = torch.cat([self.tokens[beams], added], dim=1)
        values[offered] = self.network.reordered(beams).values(extended).double().numpy()
        self._count(offered)
        if self.options.value_scale == "log":
            values = np.log(np.clip(values, *self.options.value_bounds))
        return values

    def _go_on(
        self, order: np.ndarray, score: np.ndarray, totals: np.ndarray, proposed: np.ndarray
    ) -> None:
        parents = np.zeros((self.sentences, self.width), np.int64)
        added = np.full((self.sentences, self.width), self.rules.pad)
        self.is_beam[:] = False
        kept = np.zeros_like(self.totals)
        for sentence in range(self.sentences):
            ranked = [one for one in order[sentence].tolist() if np.isfinite(score[sentence, one])]
            tokens = proposed[sentence].ravel()
            ended = [one for one in ranked[: self.width] if tokens[one] == self.rules.eos]
            beams = [one for one in ranked if tokens[one] != self.rules.eos][: self.width]
            if not self.is_done[sentence]:
                room = self.width - len(self.finished[sentence])
                for one in ended[:room]:
                    prefix = self._prefix(sentence, one // (self.width + 1))
                    self.finished[sentence].append((float(score[sentence, one]), prefix))
            for place, one in enumerate(beams):
                parents[sentence, place] = one // (self.width + 1)
                added[sentence, place] = tokens[one]
                kept[sentence, place] = totals[sentence].ravel()[one]
            self.is_beam[sentence, : len(beams)] = True
            self.is_done[sentence] |= not beams or len(self.finished[sentence]) == self.width
        self.totals = kept
        rows = torch.from_numpy((parents + np.arange(self.sentences)[:, None] * self.width).ravel())
        self.network = self.network.reordered(rows)
        added_column = torch.from_numpy(added.reshape(-1, 1))
        self.tokens = torch.cat([self.tokens[rows], added_column], dim=1)

    def _prefix(self, sentence: int, beam: int) -> tuple[int, ...]:
        """The tokens of a beam that eos ends now."""
        tokens = self.tokens[sentence * self.width + beam, 1:].tolist()
        return (*tokens, self.rules.eos)

    def _count(self, evaluated: np.ndarray) -> None:
        """[S, …] rows that go through the network."""
        self.rows += int(evaluated.sum())
        self.rows_in_vain += int(evaluated[self.is_done].sum())
