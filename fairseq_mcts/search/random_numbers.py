"""Random numbers that depend on nothing but their coordinates.

A sample must not change with the batch it is drawn in, so there is no generator with a state:
the number for (seed, sample, position) is a hash of the three.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53
_HALF_A_STEP = _TO_UNIT / 2


@compiled
def _mix(word: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every input bit reaches every output bit."""
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@compiled
def uniform(seed: int, sample: int, position: int) -> float:
    """A number in [0, 1), the same for the same coordinates on every machine."""
    word = _mix(np.uint64(seed) + _GOLDEN)
    word = _mix(word + np.uint64(sample) * _GOLDEN + np.uint64(1))
    word = _mix(word + np.uint64(position) * _GOLDEN + np.uint64(1))
    return float(word >> np.uint64(11)) * _TO_UNIT


@compiled
def gumbel(seed: int, sample: int, position: int) -> float:
    """A draw from the standard Gumbel distribution, finite, the same for the same coordinates."""
    return -math.log(-math.log(max(uniform(seed, sample, position), _HALF_A_STEP)))


def seeds_of_sentences(seed: int | Sequence[int], num_sentences: int) -> NDArray[np.int64]:
    """[num_sentences] from one number for all sentences, or one for each."""
    seeds = [seed] * num_sentences if isinstance(seed, (int, np.integer)) else list(seed)
    if len(seeds) != num_sentences:
        raise ValueError(f"seed: expected one number or {num_sentences}, one a sentence")
    return np.array([int(one) & (2**63 - 1) for one in seeds], np.int64)
