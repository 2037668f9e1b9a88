"""Draws without replacement: several tokens of a row, none of them twice."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.policy import sampling_weights
from fairseq_mcts.search.tree import NO_TOKEN, Float64, Int32

# tokens whose weights are summed up together: a draw looks at the sums, and into one chunk
CHUNK = 128


@compiled
def draw_distinct(
    rows: NDArray[np.floating[Any]],  # [n, V] log-probabilities up to a constant; -inf: not allowed
    draw_rows: Int32,  # [d] ascending
    draw_uniforms: Float64,  # [d]
    temperature: float,
    top_k: int,
    top_p: float,
    epsilon: float,
) -> tuple[Int32, Float64, Float64]:
    """[d] tokens, [d] their probabilities as `policy.draw_tokens` has them, and [d] how much of
    the row's probability was left for the draw.

    Each draw of a row is from what the draws before have left, by the inverse of the cumulative
    distribution in the order of token ids; NO_TOKEN once nothing is left.
    """
    drawn = np.empty(len(draw_rows), np.int32)
    shares, left = np.zeros(len(draw_rows), np.float64), np.zeros(len(draw_rows), np.float64)
    sums = np.empty((rows.shape[1] + CHUNK - 1) // CHUNK, np.float64)
    weights = np.empty(0, np.float64)
    last_row = -1
    for draw in range(len(draw_rows)):
        if draw_rows[draw] != last_row:
            last_row = draw_rows[draw]
            weights = sampling_weights(rows[last_row], temperature, top_k, top_p, epsilon)
            for chunk in range(len(sums)):
                sums[chunk] = weights[chunk * CHUNK : chunk * CHUNK + CHUNK].sum()
        token = _token_at(weights, sums, draw_uniforms[draw])
        drawn[draw] = token
        left[draw] = sums.sum()
        if token != NO_TOKEN:
            shares[draw] = weights[token]
            # summed up anew: by differences the last tokens' weights would drown in rounding
            weights[token] = 0.0
            chunk = token // CHUNK
            sums[chunk] = weights[chunk * CHUNK : chunk * CHUNK + CHUNK].sum()
    return drawn, shares, left


@compiled
def _token_at(weights: Float64, sums: Float64, uniform: float) -> int:
    """The first token with whose weight the sum exceeds `uniform` times the whole."""
    target = uniform * sums.sum()
    chosen, before, below = NO_TOKEN, 0.0, 0.0
    for chunk in range(len(sums)):
        if sums[chunk] > 0.0:
            # the last one with any weight, if rounding at the very end lets none exceed
            chosen, before = chunk, below
            below += sums[chunk]
            if below > target:
                break
    if chosen == NO_TOKEN:
        return NO_TOKEN
    found = NO_TOKEN
    for token in range(chosen * CHUNK, min(chosen * CHUNK + CHUNK, len(weights))):
        if weights[token] > 0.0:
            found = token
            before += weights[token]
            if before > target:
                break
    return found


def logprobs_of_draws(
    rows: NDArray[np.floating[Any]],  # [n, V]
    draw_rows: Int32,  # [d] ascending
    drawn: Int32,  # [d]
    constants: Float64 | float = 0.0,  # [d] what the entries of the rows are too great by
) -> Float64:
    """[d] the log-probabilities of drawn tokens; 0 where nothing was left.

    Of a row from which nothing could be drawn at all it is the greatest entry: -inf or NaN, which
    tells what the matter is.
    """
    found = rows[draw_rows, drawn].astype(np.float64) - constants
    missing = drawn == NO_TOKEN
    found[missing] = 0.0
    first = missing & (np.diff(draw_rows, prepend=-1) != 0)
    found[first] = rows[draw_rows[first]].max(axis=1)
    return found
