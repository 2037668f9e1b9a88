"""Attention of prefixes to their own ancestors, compiled for CPUs.

A row reads the keys and values of its path where they lie in the pool. Tensor operations would copy
them into one rectangle first, padded to the longest path, and take a dozen calls a layer.
"""

import math

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled, compiled_for_vectors
from fairseq_mcts.search.row_sums import Float32
from fairseq_mcts.search.tree import Int32

Int64 = NDArray[np.int64]


# one function for a whole row: slices that are handed to smaller ones cost as much as their work
@compiled_for_vectors("reassoc", "contract", "nsz")
def attend_row(
    queries: Float32,  # [H, d] scaled
    keys: Float32,  # [N, G, d] G is 1 (all heads read one key) or H
    values: Float32,  # [N, G, d]
    path: Int32,  # [l] slots
    weights: Float32,  # [H, l or more] scratch
    attended: Float32,  # [H, d] out
) -> None:
    """All heads of one row; NaN comes out where NaN goes in."""
    num_heads, size = queries.shape
    step = 1 if keys.shape[1] > 1 else 0  # from one head's keys to the next one's
    for place in range(len(path)):
        for head in range(num_heads):
            key = keys[path[place], head * step]
            score = np.float32(0.0)
            for column in range(size):
                score += queries[head, column] * key[column]
            weights[head, place] = score
    for head in range(num_heads):
        greatest = np.float32(-np.inf)
        for place in range(len(path)):
            greatest = max(greatest, weights[head, place])
        total = np.float32(0.0)
        for place in range(len(path)):
            weights[head, place] = math.exp(weights[head, place] - greatest)
            total += weights[head, place]
        for column in range(size):
            attended[head, column] = np.float32(0.0)
        for place in range(len(path)):
            value = values[path[place], head * step]
            weight = weights[head, place] / total
            for column in range(size):
                attended[head, column] += weight * value[column]


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
    weights = np.empty((num_heads, paths.shape[1]), np.float32)
    for row in range(len(joint)):
        path = paths[row, : depths[row] + 1]
        own = joint[row].reshape((num_heads + 2 * num_groups, size))
        for group in range(num_groups):
            keys[path[-1], group] = own[num_heads + group]
            values[path[-1], group] = own[num_heads + num_groups + group]
        attend_row(own[:num_heads], keys, values, path, weights, attended[row])
