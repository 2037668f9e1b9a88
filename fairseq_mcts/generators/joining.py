"""Batches that are known ahead, joined: sentences take the places of others that are finished."""

import math
from collections.abc import Sequence

# that become one: the tail of the last sentences is then a small part of the work
_JOINED_BATCHES = 8


def joined(batches: Sequence[Sequence[int]]) -> tuple[list[list[int]], int]:
    """Several batches as one, and how many of its sentences are to be searched at the same time.

    A sentence joins when another is finished, so that calls of the network stay full. (fairseq
    puts the longest sentences of a batch first, so that none of them is left alone at the end.)
    """
    at_once = max(math.ceil(sum(map(len, batches)) / max(len(batches), 1)), 1)
    together = [
        [row for batch in batches[begin : begin + _JOINED_BATCHES] for row in batch]
        for begin in range(0, len(batches), _JOINED_BATCHES)
    ]
    return together, at_once
