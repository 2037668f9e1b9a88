"""Draws of tokens from rows of scores, without a distribution of the whole vocabulary in memory.

The cumulative distribution is known at the borders of chunks first; only the chunk that a draw
falls into is looked at token by token. Draws with filters need the whole distribution:
`policy.draw_tokens`.
"""

import numpy as np

from fairseq_mcts.search.compiled import compiled, compiled_inline
from fairseq_mcts.search.row_sums import (
    CHUNK,
    Float32,
    Scratch,
    new_scratch,
    sum_of_chunk,
    write_exponentials,
)
from fairseq_mcts.search.tree import Float64, Int32


@compiled
def draw_from_scores(
    rows: Float32,  # [n, V] log-probabilities up to a constant a row; -inf: not allowed
    draw_rows: Int32,  # [d] ascending
    draw_uniforms: Float64,  # [d]
    temperature: float,
) -> Int32:
    """[d] tokens by the inverse of the cumulative distribution, in the order of token ids."""
    drawn = np.empty(len(draw_rows), np.int32)
    sums = np.empty((rows.shape[1] + CHUNK - 1) // CHUNK, np.float64)
    scratch = new_scratch()
    factor = np.float32(1.0 / temperature)
    last_row, greatest = -1, np.float32(0.0)
    for draw in range(len(draw_rows)):
        row = rows[draw_rows[draw]]
        if draw_rows[draw] != last_row:
            last_row = draw_rows[draw]
            greatest = row.max()
            for chunk in range(len(sums)):
                entries = row[chunk * CHUNK : chunk * CHUNK + CHUNK]
                sums[chunk] = sum_of_chunk(entries, greatest, factor, scratch)
        drawn[draw] = _draw(row, greatest, factor, sums, draw_uniforms[draw], scratch)
    return drawn


@compiled_inline
def _draw(
    row: Float32,  # [V]
    greatest: np.float32,
    factor: np.float32,
    sums: Float64,  # [number of chunks]
    uniform: float,
    scratch: Scratch,
) -> int:
    """The first token with whose weight the sum exceeds `uniform` times the whole."""
    target = uniform * sums.sum()
    chosen, before, below = 0, 0.0, 0.0
    for chunk in range(len(sums)):
        if sums[chunk] > 0.0:
            # the last one with any weight, if rounding at the very end lets none exceed
            chosen, before = chunk, below
            below += sums[chunk]
            if below > target:
                break
    entries = row[chosen * CHUNK : chosen * CHUNK + CHUNK]
    write_exponentials(entries, greatest, factor, scratch)
    token = 0
    for place in range(len(entries)):
        weight = scratch.polynomials[place] * scratch.powers[place]
        if weight > 0.0:
            token = place
            before += weight
            if before > target:
                break
    return chosen * CHUNK + token
