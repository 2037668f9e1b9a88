"""What a search reads of a network's scores over the vocabulary, in one go per row.

Scores are log-probabilities up to a constant a row (logits): normalising them is part of reading.
Tokens with a rule of their own (forbidden, banned, penalised) are few. They are taken out of a row
before the pass over the whole of it, and join its sums one by one afterwards, so that one pass
gives the normalisers with and without them.
"""

import math
from typing import NamedTuple

import numpy as np

from fairseq_mcts.search.compiled import compiled, compiled_inline
from fairseq_mcts.search.policy import insert_if_best
from fairseq_mcts.search.row_sums import (
    BLOCK,
    Float32,
    Scratch,
    new_scratch,
    sum_of_exponentials,
    write_block_maxima,
)
from fairseq_mcts.search.tree import NO_TOKEN, Bool, Float64, Int32


class TokenRules(NamedTuple):
    """What holds for tokens wherever they stand."""

    eos: int
    forbidden: Int32  # [f] never produced
    penalised: Int32  # [p] none of them twice
    penalties: Float64  # [p] what is taken off their log-probabilities


class RowsRead(NamedTuple):
    """What was read of n rows."""

    num_actions: Int32  # [n]
    tokens: Int32  # [n, A]
    logprobs: Float64  # [n, A]
    weights: Float64  # [n, A] see evaluator.Answers
    normalisers: Float64  # [n] what makes log-probabilities of scores by subtraction


@compiled
def with_another(log_sum: float, score: float) -> float:
    """log(exp(log_sum) + exp(score))"""
    if score > log_sum:
        log_sum, score = score, log_sum
    if score == -math.inf:
        return log_sum
    return log_sum + math.log1p(math.exp(score - log_sum))


@compiled_inline
def log_sum_of_row(row: Float32, greatest: float, temperature: float, scratch: Scratch) -> float:
    """log Σ exp(row / temperature)"""
    if greatest == -math.inf:
        return greatest
    factor = np.float32(1.0 / temperature)
    total = sum_of_exponentials(row, np.float32(greatest), factor, scratch)
    return greatest / temperature + math.log(total)


@compiled
def number_or_nan(normaliser: float) -> float:
    """NaN for the sum of an infinite score too: log-probabilities of -inf would pass unnoticed."""
    return math.nan if normaliser == math.inf else normaliser


@compiled
def penalty_of(token: int, rules: TokenRules) -> float:
    """What is taken off a token's log-probability."""
    for place in range(len(rules.penalised)):
        if rules.penalised[place] == token:
            return float(rules.penalties[place])
    return 0.0


@compiled
def lower_bound(
    maxima: Float32,  # of blocks
    tokens: Int32,  # [A] overwritten
    scores: Float64,  # [A] overwritten
) -> float:
    """The A-th greatest block maximum: so many entries are no smaller."""
    count = 0
    for block in range(len(maxima)):
        count = insert_if_best(tokens, scores, count, block, maxima[block])
    return float(scores[count - 1]) if count == len(scores) else -math.inf


@compiled
def best_entries(
    row: Float32,  # [V]
    maxima: Float32,  # [⌈V / BLOCK⌉] of its blocks
    tokens: Int32,  # [A] out
    scores: Float64,  # [A] out
) -> int:
    """The best finite entries, best first, equal ones by token id; how many there are."""
    bound = lower_bound(maxima, tokens, scores)
    count = 0
    for block in range(len(maxima)):
        if maxima[block] < bound:
            continue
        entries = row[block * BLOCK : block * BLOCK + BLOCK]
        for offset in range(len(entries)):
            score = entries[offset]
            if score >= bound and score != -np.inf:
                count = insert_if_best(tokens, scores, count, block * BLOCK + offset, score)
    return count


class Reading(NamedTuple):
    """What the rows of one call have in common."""

    rules: TokenRules
    temperature: float
    as_priors: bool  # see evaluator.Question
    read: RowsRead  # out
    maxima: Float32  # [⌈V / BLOCK⌉] scratch
    scratch: Scratch


@compiled_inline
def read_forced_row(
    row: Float32,  # [V], overwritten
    token: int,
    index: int,
    reading: Reading,
) -> None:
    """A row after which only one token may follow."""
    rules, read, maxima, scratch = reading.rules, reading.read, reading.maxima, reading.scratch
    temperature = reading.temperature
    write_block_maxima(row, maxima)
    normaliser = number_or_nan(log_sum_of_row(row, maxima.max(), 1.0, scratch))
    for place in range(len(rules.penalised)):
        row[rules.penalised[place]] -= rules.penalties[place]
    score = row[token]
    read.normalisers[index] = normaliser
    # NaN is no -inf: it is stored, for the evaluator to find
    if read.tokens.shape[1] > 0 and score - normaliser != -np.inf:
        read.num_actions[index] = 1
        read.tokens[index, 0] = token
        read.logprobs[index, 0] = score - normaliser
        read.weights[index, 0] = score - normaliser
        if reading.as_priors:
            read.weights[index, 0] = 1.0
        elif temperature != 1.0:
            tempered = log_sum_of_row(row, row.max(), temperature, scratch)
            read.weights[index, 0] = score / temperature - tempered
    row[:] = -np.inf
    row[token] = score


@compiled_inline
def read_open_row(
    row: Float32,  # [V], overwritten
    not_allowed: Int32,  # [t] tokens that may not follow
    index: int,
    reading: Reading,
) -> None:
    """A row after which several tokens may follow."""
    rules, read, maxima, scratch = reading.rules, reading.read, reading.maxima, reading.scratch
    temperature, as_priors = reading.temperature, reading.as_priors
    taken = _taken(row, not_allowed)
    penalised = _taken(row, rules.penalised)
    write_block_maxima(row, maxima)
    greatest = maxima.max()
    actions = read.tokens.shape[1]
    normaliser = log_sum_of_row(row, greatest, 1.0, scratch)
    tempered = normaliser
    if temperature != 1.0 and actions > 0:
        tempered = log_sum_of_row(row, greatest, temperature, scratch)
    for place in range(len(penalised)):
        token = rules.penalised[place]
        row[token] = penalised[place] - rules.penalties[place]
        maxima[token // BLOCK] = max(maxima[token // BLOCK], row[token])
        normaliser = with_another(normaliser, penalised[place])
        tempered = with_another(tempered, row[token] / temperature)
    for place in range(len(taken)):
        normaliser = with_another(normaliser, taken[place])
        if not as_priors:
            score = taken[place] - penalty_of(not_allowed[place], rules)
            tempered = with_another(tempered, score / temperature)
    normaliser = number_or_nan(normaliser)
    if temperature == 1.0 and not as_priors:
        tempered = normaliser  # penalties are no part of the distribution then
    read.normalisers[index] = normaliser
    if actions == 0:
        return

    found = best_entries(row, maxima, read.tokens[index], read.logprobs[index])
    read.num_actions[index] = found
    for place in range(found):
        score = read.logprobs[index, place]
        read.logprobs[index, place] = score - normaliser
        weight = score / temperature - tempered
        read.weights[index, place] = math.exp(weight) if as_priors else weight
    if math.isnan(normaliser):
        # for the evaluator to find: no comparison with NaN would have shown it
        read.logprobs[index, 0] = normaliser


@compiled
def _taken(row: Float32, tokens: Int32) -> Float64:
    """[t] the scores of `tokens` [t], which are moved out of their row."""
    scores = np.empty(len(tokens), np.float64)
    for place in range(len(tokens)):
        scores[place] = row[tokens[place]]
        row[tokens[place]] = -np.inf
    return scores


@compiled
def read_rows(
    scores: Float32,  # [u, V] of the prefixes that are not finished; -inf for what may not follow
    finished: Bool,  # [n]
    eos_allowed: Bool,  # [n]
    only_token: Int32,  # [n] the one that may follow, NO_TOKEN where the rest decides
    banned_rows: Int32,  # [m] ascending
    banned_tokens: Int32,  # [m]
    rules: TokenRules,
    temperature: float,
    as_priors: bool,  # see evaluator.Question
    read: RowsRead,  # out
) -> None:
    """The A best tokens after each prefix with their log-probabilities and weights; nothing is
    read of finished ones, which have no bans."""
    maxima = np.empty((scores.shape[1] + BLOCK - 1) // BLOCK, np.float32)
    reading = Reading(rules, temperature, as_priors, read, maxima, new_scratch())
    num_forbidden = len(rules.forbidden)
    not_allowed = np.empty(num_forbidden + 1 + len(banned_rows), np.int32)
    not_allowed[:num_forbidden] = rules.forbidden
    place = 0  # of the prefix in `scores`
    ban = 0
    for index in range(len(finished)):
        if finished[index]:
            read.num_actions[index] = 0
            continue
        count = num_forbidden
        if not eos_allowed[index]:
            not_allowed[count] = rules.eos
            count += 1
        while ban < len(banned_rows) and banned_rows[ban] == index:
            not_allowed[count] = banned_tokens[ban]
            count += 1
            ban += 1
        if only_token[index] != NO_TOKEN:
            read_forced_row(scores[place], only_token[index], index, reading)
        else:
            read_open_row(scores[place], not_allowed[:count], index, reading)
        place += 1
