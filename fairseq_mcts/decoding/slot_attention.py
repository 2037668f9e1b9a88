"""Attention of rows to keys and values that are read in place, compiled for CPUs.

Prefixes attend to their own ancestors, which are scattered over the pool, and to the tokens of
their source. Tensor operations would copy all of them into one rectangle first, padded to the
longest row, and take a dozen calls a layer. Here a row's numbers depend on that row alone, so they
are the same to the last bit in every batch.
"""

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled, compiled_for_vectors, compiled_inline
from fairseq_mcts.search.row_sums import CHUNK, Float32, Scratch, new_scratch, write_exponentials
from fairseq_mcts.search.tree import Int32

Int64 = NDArray[np.int64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


# Functions of whole rows: slices that are handed to smaller ones cost as much as their work. Four
# keys or values at once: sums of one would wait for one another.
@compiled_for_vectors("reassoc", "contract", "nsz")
def write_scores(
    queries: Float32,  # [H, d]
    keys: Float32,  # [N, G, d]
    slots: Int32,  # [l]
    scores: Float32,  # [H · l or more] out
) -> None:
    """The products of queries and keys, those of a head less their greatest."""
    num_heads, size = queries.shape
    count = len(slots)
    step = 1 if keys.shape[1] > 1 else 0  # from one head's keys to the next one's
    in_fours = count - count % 4
    for head in range(num_heads):
        query = queries[head]
        own = scores[head * count : (head + 1) * count]
        for place in range(0, in_fours, 4):
            key_0, key_1 = keys[slots[place], head * step], keys[slots[place + 1], head * step]
            key_2, key_3 = keys[slots[place + 2], head * step], keys[slots[place + 3], head * step]
            sum_0, sum_1, sum_2, sum_3 = _ZERO, _ZERO, _ZERO, _ZERO
            for column in range(size):
                sum_0 += query[column] * key_0[column]
                sum_1 += query[column] * key_1[column]
                sum_2 += query[column] * key_2[column]
                sum_3 += query[column] * key_3[column]
            own[place], own[place + 1], own[place + 2], own[place + 3] = sum_0, sum_1, sum_2, sum_3
        for place in range(in_fours, count):
            key_0 = keys[slots[place], head * step]
            sum_0 = _ZERO
            for column in range(size):
                sum_0 += query[column] * key_0[column]
            own[place] = sum_0
        greatest = np.float32(-np.inf)
        for place in range(count):
            greatest = max(greatest, own[place])
        for place in range(count):
            own[place] -= greatest


@compiled_for_vectors("reassoc", "contract", "nsz")
def exponentiate(scores: Float32, scratch: Scratch) -> None:  # [n] not greater than 0, overwritten
    """All heads at once, since few numbers would not fill a vector."""
    for begin in range(0, len(scores), CHUNK):
        chunk = scores[begin : begin + CHUNK]
        write_exponentials(chunk, _ZERO, _ONE, scratch)
        for place in range(len(chunk)):
            chunk[place] = scratch.polynomials[place] * scratch.powers[place]


@compiled_for_vectors("reassoc", "contract", "nsz")
def write_means(
    weights: Float32,  # [H · l or more] overwritten
    values: Float32,  # [N, G, d]
    slots: Int32,  # [l]
    means: Float32,  # [H, d] out
) -> None:
    """Of each head the mean of the values by its weights, whatever these add up to."""
    num_heads, size = means.shape
    count = len(slots)
    step = 1 if values.shape[1] > 1 else 0
    in_fours = count - count % 4
    for head in range(num_heads):
        own, mean = weights[head * count : (head + 1) * count], means[head]
        total = _ZERO
        for place in range(count):
            total += own[place]
        for place in range(count):
            own[place] /= total
        for column in range(size):
            mean[column] = _ZERO / total  # NaN if there is nothing to attend to
        for place in range(0, in_fours, 4):
            weight_0, weight_1 = own[place], own[place + 1]
            weight_2, weight_3 = own[place + 2], own[place + 3]
            value_0 = values[slots[place], head * step]
            value_1 = values[slots[place + 1], head * step]
            value_2 = values[slots[place + 2], head * step]
            value_3 = values[slots[place + 3], head * step]
            for column in range(size):
                mean[column] += (weight_0 * value_0[column] + weight_1 * value_1[column]) + (
                    weight_2 * value_2[column] + weight_3 * value_3[column]
                )
        for place in range(in_fours, count):
            value_0 = values[slots[place], head * step]
            for column in range(size):
                mean[column] += own[place] * value_0[column]


@compiled_inline
def attend_row(
    queries: Float32,  # [H, d] scaled
    keys: Float32,  # [N, G, d] G is 1 (all heads read one key) or H
    values: Float32,  # [N, G, d]
    slots: Int32,  # [l] where among N the row's keys and values are
    weights: Float32,  # [H · l or more] scratch
    scratch: Scratch,
    attended: Float32,  # [H, d] out
) -> None:
    """All heads of one row; NaN comes out where NaN goes in."""
    write_scores(queries, keys, slots, weights)
    exponentiate(weights[: len(queries) * len(slots)], scratch)
    write_means(weights, values, slots, attended)


@compiled
def attend_paths(
    joint: Float32,  # [n, (H + 2 G) d] queries (scaled), keys and values of the rows
    keys: Float32,  # [N, G, d] of all slots; those of the rows are written
    values: Float32,  # [N, G, d]
    paths: Int32,  # [n, L] slots, the row's own last, then padding
    depths: Int64,  # [n] length of each path - 1
    attended: Float32,  # [n, H, d] out
) -> None:
    """Stores each row's key and value, then attends to all on its path."""
    num_heads, size = attended.shape[1], attended.shape[2]
    num_groups = keys.shape[1]
    weights = np.empty(num_heads * paths.shape[1], np.float32)
    scratch = new_scratch()
    for row in range(len(joint)):
        path = paths[row, : depths[row] + 1]
        own = joint[row].reshape((num_heads + 2 * num_groups, size))
        for group in range(num_groups):
            keys[path[-1], group] = own[num_heads + group]
            values[path[-1], group] = own[num_heads + num_groups + group]
        attend_row(own[:num_heads], keys, values, path, weights, scratch, attended[row])


@compiled
def attend_sources(
    queries: Float32,  # [n, H, d] scaled
    keys: Float32,  # [S, T, G, d] of S sources
    values: Float32,  # [S, T, G, d]
    lengths: Int32,  # [S] how many of the T tokens are no padding
    sentences: Int32,  # [n] the source of each row
    attended: Float32,  # [n, H, d] out
) -> None:
    """Each row attends to its source."""
    places = np.arange(keys.shape[1]).astype(np.int32)
    weights = np.empty(queries.shape[1] * len(places), np.float32)
    scratch = new_scratch()
    for row in range(len(queries)):
        own = sentences[row]
        tokens = places[: lengths[own]]
        attend_row(queries[row], keys[own], values[own], tokens, weights, scratch, attended[row])
