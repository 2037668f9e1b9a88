"""From log-probabilities over a vocabulary to what a search reads: best actions and draws.

Everything here works on masked rows: a token that is not allowed has log-probability -inf. Ties
are broken by the lower token id throughout.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.evaluator import Requests
from fairseq_mcts.search.tree import NO_TOKEN, Bool, Float64, Int32


def masked_rows(logprobs: Float64, forbidden: Bool, eos: int, requests: Requests) -> Float64:
    """[n, V] a copy of `logprobs` with -inf for what may not follow the requested prefixes."""
    rows = logprobs.copy()
    rows[:, forbidden] = -np.inf
    rows[~requests.eos_allowed, eos] = -np.inf
    rows[requests.banned_rows, requests.banned_tokens] = -np.inf
    single = np.flatnonzero(requests.only_token != NO_TOKEN)
    tokens = requests.only_token[single]
    rows[single] = -np.inf
    rows[single, tokens] = logprobs[single, tokens]
    return rows


@compiled
def insert_if_best(
    tokens: Int32,  # [A] the best so far, best first
    scores: Float64,  # [A]
    count: int,  # how many there are
    token: int,
    score: float,
) -> int:
    """Takes a token in behind those as good, if it is among the A best; how many there are now."""
    if count == len(scores):
        if score <= scores[count - 1]:
            return count
        count -= 1
    place = count
    while place > 0 and scores[place - 1] < score:
        tokens[place] = tokens[place - 1]
        scores[place] = scores[place - 1]
        place -= 1
    tokens[place] = token
    scores[place] = score
    return count + 1


@compiled
def best_of_row(
    row: Float64,  # [V]
    tokens: Int32,  # [A] out
    logprobs: Float64,  # [A] out
) -> int:
    """The best allowed entries of a row, best first, equal ones by token id; how many there are."""
    count = 0
    for token in range(len(row)):
        if row[token] != -math.inf:
            count = insert_if_best(tokens, logprobs, count, token, row[token])
    return count


@compiled
def best_actions(
    rows: Float64,  # [n, V]
    wanted: Bool,  # [n] rows to look at
    num_actions: Int32,  # [n] out: 0 where nothing is wanted or allowed
    tokens: Int32,  # [n, A] out
    logprobs: Float64,  # [n, A] out
) -> None:
    """The A best tokens of each row that is wanted."""
    for index in range(len(rows)):
        num_actions[index] = 0
        if wanted[index] and tokens.shape[1] > 0:
            num_actions[index] = best_of_row(rows[index], tokens[index], logprobs[index])


@compiled
def normalisers(
    rows: Float64,  # [n, V]
    wanted: Bool,  # [n] rows to look at; each has a finite entry
    temperature: float,
) -> tuple[Float64, Float64]:
    """[n] the greatest entry g of each row, and [n] Σ exp((row − g) / temperature)."""
    greatest = np.zeros(len(rows), np.float64)
    sums = np.ones(len(rows), np.float64)
    for index in range(len(rows)):
        if wanted[index]:
            greatest[index] = rows[index].max()
            total = 0.0
            for token in range(rows.shape[1]):
                total += math.exp((rows[index, token] - greatest[index]) / temperature)
            sums[index] = total
    return greatest, sums


@compiled
def _keep_best(weights: Float64, order: Int32, count: int) -> float:
    """Leaves only the `count` first tokens of `order` in `weights`; their sum."""
    for index in range(count, len(order)):
        weights[order[index]] = 0.0
    return weights.sum()


@compiled
def sampling_weights(
    row: NDArray[np.floating[Any]],  # [V]
    temperature: float,
    top_k: int,
    top_p: float,
    epsilon: float,
) -> Float64:
    """[V] the probabilities that tokens are drawn with, filtered and renormalised in turn."""
    highest = row.max()
    weights = np.empty(len(row), np.float64)
    for token in range(len(row)):
        weights[token] = math.exp((row[token] - highest) / temperature)
    weights /= weights.sum()
    if 0 < top_k < len(row) or top_p < 1.0:
        # a stable sort of the negated row: best first, equal ones by token id
        order = np.argsort(-row, kind="mergesort").astype(np.int32)
        if 0 < top_k < len(row):
            weights /= _keep_best(weights, order, top_k)
        if top_p < 1.0:
            mass = 0.0
            count = 0
            while count < len(order) and mass < top_p:
                mass += weights[order[count]]
                count += 1
            weights /= _keep_best(weights, order, max(count, 1))
    if epsilon > 0.0:
        best = np.argmax(row)
        for token in range(len(weights)):
            if weights[token] < epsilon and token != best:
                weights[token] = 0.0
        weights /= weights.sum()
    return weights


@compiled
def draw_tokens(
    rows: NDArray[np.floating[Any]],  # [n, V]
    draw_rows: Int32,  # [d] ascending
    draw_uniforms: Float64,  # [d]
    temperature: float,
    top_k: int,
    top_p: float,
    epsilon: float,
) -> Int32:
    """[d] tokens by the inverse of the cumulative distribution, in the order of token ids."""
    drawn = np.empty(len(draw_rows), np.int32)
    last_row = -1
    cumulative = np.empty(0, np.float64)
    last_token = 0
    for draw in range(len(draw_rows)):
        row = draw_rows[draw]
        if row != last_row:
            weights = sampling_weights(rows[row], temperature, top_k, top_p, epsilon)
            cumulative = np.cumsum(weights)
            last_token = np.nonzero(weights)[0][-1]
            last_row = row
        target = draw_uniforms[draw] * cumulative[-1]
        token = np.searchsorted(cumulative, target, side="right")
        drawn[draw] = min(token, last_token)  # rounding at the very end of the interval
    return drawn
