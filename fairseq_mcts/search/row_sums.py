"""Sums of exponentials and maxima of long float32 rows, in loops that compilers turn into vectors.

A vocabulary's softmax costs as much as everything else that a search does per prefix. numba has no
vector exponential of its own, so here is one: x = k ln 2 + r, a polynomial of r, and 2^k written
into the exponent bits. Its relative error is that of float32 (tests/search/test_row_sums.py).
Sums may be re-ordered for speed, but the order depends on a row's length alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled, compiled_for_vectors, compiled_inline

Float32 = NDArray[np.float32]

# tokens whose greatest score is found in one go
BLOCK = 64
# entries whose parts fit into the fastest cache
CHUNK = 256

_LOG2_E = np.float32(1.44269504)
# ln 2 in two parts, the first with few enough bits for exact products with whole numbers
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
# Taylor's coefficients behind 1 + r: r is at most ln 2 / 2
_C2, _C3, _C4, _C5, _C6 = (np.float32(1.0 / n) for n in (2, 6, 24, 120, 720))
_LOWEST = np.float32(-87.0)  # its exponential is the smallest that float32 has all bits of
_EXPONENT_BIAS = np.float32(127.0)
_EXPONENT_UNIT = np.float32(2.0**23)
_ZERO = np.float32(0.0)


class Scratch(NamedTuple):
    """Room for the parts of a chunk of exponentials."""

    polynomials: Float32  # [CHUNK]
    exponents: NDArray[np.int32]  # [CHUNK] bits of powers of two
    powers: Float32  # [CHUNK] the same memory


@compiled
def new_scratch() -> Scratch:
    """Room for one thread."""
    exponents = np.empty(CHUNK, np.int32)
    return Scratch(np.empty(CHUNK, np.float32), exponents, exponents.view(np.float32))


@compiled_for_vectors("reassoc", "contract", "nsz")
def write_exponentials(
    chunk: Float32,  # [c], at most CHUNK
    shift: np.float32,  # no entry is greater
    factor: np.float32,
    scratch: Scratch,
) -> None:
    """exp((chunk − shift) · factor) as the products of `polynomials` and `powers` in `scratch`.

    What float32 could not hold with all bits is zero; NaN stays NaN.
    """
    polynomials, exponents = scratch.polynomials, scratch.exponents
    for place in range(len(chunk)):
        x = (chunk[place] - shift) * factor
        is_zero = x < _LOWEST
        x = _LOWEST if is_zero else x
        k = np.floor(x * _LOG2_E + _HALF)
        r = x - k * _LN2_HIGH
        r = r - k * _LN2_LOW
        tail = (((_C6 * r + _C5) * r + _C4) * r + _C3) * r + _C2
        polynomials[place] = _ZERO if is_zero else tail * r * r + r + _ONE
        exponents[place] = np.int32((k + _EXPONENT_BIAS) * _EXPONENT_UNIT)


@compiled_for_vectors("reassoc", "contract", "nsz")
def sum_of_chunk(
    chunk: Float32,  # [c], at most CHUNK
    shift: np.float32,
    factor: np.float32,
    scratch: Scratch,
) -> np.float32:
    """Σ exp((chunk − shift) · factor)"""
    write_exponentials(chunk, shift, factor, scratch)
    polynomials, powers = scratch.polynomials, scratch.powers
    total = _ZERO
    for place in range(len(chunk)):
        total += polynomials[place] * powers[place]
    return total


@compiled_inline
def sum_of_exponentials(
    row: Float32,  # [V]
    shift: np.float32,  # no entry is greater
    factor: np.float32,
    scratch: Scratch,
) -> float:
    """Σ exp((row − shift) · factor); NaN if there is one in the row."""
    total = 0.0
    for begin in range(0, len(row), CHUNK):
        total += float(sum_of_chunk(row[begin : begin + CHUNK], shift, factor, scratch))
    return total


@compiled_for_vectors("nnan", "nsz")
def write_block_maxima(row: Float32, maxima: Float32) -> None:  # [V], [⌈V / BLOCK⌉] out
    """The greatest entry of each BLOCK of a row; NaN may be passed over."""
    for block in range(len(maxima)):
        entries = row[block * BLOCK : block * BLOCK + BLOCK]
        greatest = entries[0]
        for place in range(len(entries)):
            greatest = max(greatest, entries[place])
        maxima[block] = greatest
