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


@compiled_for_vectors("reassoc", "contract", "nsz")
def dot(one: Float32, other: Float32) -> np.float32:  # [d], [d]
    """Their product."""
    total = np.float32(0.0)
    for place in range(len(one)):
        total += one[place] * other[place]
    return total


@compiled_for_vectors("contract")
def add_scaled(total: Float32, factor: np.float32, other: Float32) -> None:  # [d], [d]
    """total += factor · other"""
    for place in range(len(total)):
        total[place] += factor * other[place]


@compiled
def attend_head(
    query: Float32,  # [d] scaled
    keys: Float32,  # [N, G, d]
    values: Float32,  # [N, G, d]
    group: int,
    path: Int32,  # [l] slots
    weights: Float32,  # [l or more] scratch
    attended: Float32,  # [d] out
) -> None:
    """One head of one row; NaN comes out where NaN goes in."""
    greatest = np.float32(-np.inf)
    for place in range(len(path)):
        score = dot(query, keys[path[place], group])
        weights[place] = score
        greatest = max(greatest, score)
    total = np.float32(0.0)
    for place in range(len(path)):
        weights[place] = math.exp(weights[place] - greatest)
        total += weights[place]
    attended[:] = np.float32(0.0)
    for place in range(len(path)):
        add_scaled(attended, weights[place] / total, values[path[place], group])


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
    weights = np.empty(paths.shape[1], np.float32)
    for row in range(len(joint)):
        path = paths[row, : depths[row] + 1]
        own = joint[row].reshape((num_heads + 2 * num_groups, size))
        for group in range(num_groups):
            keys[path[-1], group] = own[num_heads + group]
            values[path[-1], group] = own[num_heads + num_groups + group]
        for head in range(num_heads):
            # multi-query: all heads read one group; multi-head: each its own
            group = head if num_groups > 1 else 0
            attend_head(own[head], keys, values, group, path, weights, attended[row, head])
