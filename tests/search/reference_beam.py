"""Beam search and value-guided beam search for one sentence, without batches or memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tests.search.reference_rules import (
    Answer,
    Model,
    Network,
    Prefix,
    Rules,
    log_tempered,
    positional_logprobs,
)


@dataclass(frozen=True)
class BeamOptions:
    beam: int = 5
    length_penalty: float = 1.0
    normalization: str = "length"


@dataclass(frozen=True)
class VgbsOptions:
    beam: int = 7
    alpha: float = 0.5
    temperature: float = 1.0
    value_scale: str = "plain"
    value_bounds: tuple[float, float] = (1e-6, 1.0)
    highest_value: float = math.inf


@dataclass(frozen=True)
class Proposal:
    """A beam extended by one token."""

    prefix: Prefix
    total: float  # sum of the (tempered) log-probabilities
    token_logprob: float  # of the last token
    value: float | None
    parent_rank: int
    rank_by: float


@dataclass(frozen=True)
class BeamResult:
    answers: list[Answer]  # all finished sentences, best first
    charged: int
    asked: list[Prefix]
    needed: list[Prefix]  # without those whose value can't matter


RankBy = Callable[[float, int, "float | None"], float]  # (sum, length with EOS, value) -> score


def reference_beam(model: Model, sentence: int, rules: Rules, options: BeamOptions) -> BeamResult:
    def final_score(total: float, length: int, value: float | None) -> float:
        if options.normalization == "length":
            return total / length**options.length_penalty
        if options.normalization == "gnmt":
            return total / ((5 + length) / 6) ** options.length_penalty
        return total

    return _search(
        Network(model, sentence),
        rules,
        width=options.beam,
        temperature=1.0,
        with_value=False,
        rank_by=lambda total, length, value: total,
        final_score=final_score,
    )


def reference_vgbs(model: Model, sentence: int, rules: Rules, options: VgbsOptions) -> BeamResult:
    def score(total: float, length: int, value: float | None) -> float:
        if value is None:
            return total / length
        if options.value_scale == "log":
            lowest, highest = options.value_bounds
            value = math.log(min(max(value, lowest), highest))
        return (1 - options.alpha) * total / length + options.alpha * value

    return _search(
        Network(model, sentence),
        rules,
        width=options.beam,
        temperature=options.temperature,
        with_value=options.alpha > 0,
        rank_by=score,
        final_score=score,
        highest_value=options.highest_value,
    )


def _search(
    network: Network,
    rules: Rules,
    *,
    width: int,
    temperature: float,
    with_value: bool,
    rank_by: RankBy,
    final_score: RankBy,
    highest_value: float = math.inf,
) -> BeamResult:
    active = [Proposal((), 0.0, 0.0, None, 0, 0.0)]
    finished: list[Proposal] = []
    charged = 0
    in_vain: set[Prefix] = set()
    while active and len(finished) < width:
        proposals = []
        for rank, beam in enumerate(active):
            logprobs = log_tempered(network.logprobs(beam.prefix), temperature)
            charged += 1
            for token in _most_probable(logprobs, rules.allowed(beam.prefix), width, rules.eos):
                prefix = (*beam.prefix, token)
                total = beam.total + logprobs[token]
                value = network.value(prefix) if with_value else None
                charged += with_value
                worth = rank_by(total, len(prefix), value)
                proposals.append(Proposal(prefix, total, logprobs[token], value, rank, worth))
        if with_value:
            needed = _worth_asking(proposals, rules, width, rank_by, highest_value)
            in_vain |= {p.prefix for p in proposals if p not in needed}
        proposals.sort(key=lambda p: (-p.rank_by, -p.token_logprob, p.prefix[-1], p.parent_rank))
        ended = [p for p in proposals[:width] if rules.finished(p.prefix)]
        finished += ended[: width - len(finished)]
        active = [p for p in proposals if not rules.finished(p.prefix)][:width]

    # sorted() keeps the order of equal elements: of equal scores the earlier finished comes first
    answers = [
        Answer(
            p.prefix,
            positional_logprobs(network, p.prefix),
            p.value,
            final_score(p.total, len(p.prefix), p.value),
        )
        for p in finished
    ]
    asked = network.distinct()
    return BeamResult(
        sorted(answers, key=lambda answer: -answer.score),
        charged,
        asked,
        [prefix for prefix in asked if prefix not in in_vain],
    )


def _worth_asking(
    proposals: list[Proposal], rules: Rules, width: int, rank_by: RankBy, highest_value: float
) -> list[Proposal]:
    """The most probable, until k do not end in EOS; and what may rank with the worst of these."""
    first: list[Proposal] = []
    going_on: list[float] = []
    for proposal in sorted(proposals, key=lambda p: -p.total):
        if len(going_on) == width:
            break
        first.append(proposal)
        if not rules.finished(proposal.prefix):
            going_on.append(proposal.rank_by)
    needed = min(going_on) if len(going_on) == width else -math.inf
    return first + [
        p
        for p in proposals
        if p not in first and rank_by(p.total, len(p.prefix), highest_value) >= needed
    ]


def _most_probable(logprobs: list[float], allowed: list[int], width: int, eos: int) -> list[int]:
    """The k most probable tokens, and one more where EOS is among them."""
    best_first = sorted(allowed, key=lambda token: (-logprobs[token], token))
    return best_first[: width + 1] if eos in best_first[:width] else best_first[:width]
