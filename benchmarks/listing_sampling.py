"""Sampling and reranking by the value (S+RV) the way the paper's listing does MCTS.

Upon fairseq's incremental decoding (`listing_states.py` has two ways to keep its states), in
lock-step: n rows for each sentence, all in one batch, which draw a token each per step. Samples
share nothing, however alike they are. A sample that is finished is fed its eos, for the value, and
padding from then on until all are finished. Random numbers are those of this project, so that its
samples must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from listing_rules import Decoded, Rules
from listing_states import BeginRows
from torch import Tensor

from fairseq_mcts.search.decoders.sr import SrOptions
from fairseq_mcts.search.random_numbers import uniform


@torch.no_grad()
def decode_samples(
    model: Any,
    sources: Sequence[Tensor],
    options: SrOptions,  # rank_by="value", without filters
    rules: Rules,
    seeds: Sequence[int],  # [S]
    begin: BeginRows,  # how states are kept
) -> Decoded:
    samples = int(options.samples)
    network = begin(model, sources, samples)
    owners = [(seed, sample) for seed in seeds for sample in range(samples)]
    count = len(owners)
    tokens = torch.full((count, 1), rules.eos)  # [S·n, t + 1]
    totals = torch.zeros(count, dtype=torch.float64)
    scores = torch.zeros(count)
    ended = torch.zeros(count, dtype=torch.bool)  # eos is the last token or further back
    valued = ended.clone()  # eos has been fed
    rows = in_vain = 0
    while not valued.all():
        logprobs, values = network.policies(tokens)
        rows += count
        in_vain += int(valued.sum())
        scores = torch.where(ended & ~valued, values, scores)
        valued = ended.clone()
        position = tokens.size(1) - 1
        drawn, drawn_logprobs = _draw(
            rules.forbid(logprobs, torch.full((count,), position)),
            torch.tensor([uniform(*owner, position) for owner in owners], dtype=torch.float64),
            options.temperature,
        )
        totals += torch.where(ended, 0.0, drawn_logprobs)
        drawn = torch.where(ended, rules.pad, drawn)
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
        ended |= drawn == rules.eos
    outputs = []
    for first in range(0, count, samples):
        # of equal values the more probable, of equal ones the earlier sample
        best = max(range(first, first + samples), key=lambda row: (scores[row], totals[row]))
        outputs.append(tuple(one for one in tokens[best, 1:].tolist() if one != rules.pad))
    return Decoded(outputs, rows, in_vain)


def _draw(logprobs: Tensor, uniforms: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """[n] tokens by the inverse of the cumulative distribution, and their log-probabilities."""
    policy = torch.softmax(logprobs / temperature, dim=-1)
    cumulative = policy.cumsum(dim=-1, dtype=torch.float64)
    targets = uniforms * cumulative[:, -1]
    drawn = torch.searchsorted(cumulative, targets[:, None], right=True)
    return drawn[:, 0], logprobs.gather(1, drawn)[:, 0].double()
