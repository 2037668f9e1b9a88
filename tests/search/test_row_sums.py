"""Vectorised sums of exponentials and maxima are what numpy says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.search.row_sums import (
    BLOCK,
    CHUNK,
    new_scratch,
    sum_of_exponentials,
    write_block_maxima,
)

LENGTHS = (1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, CHUNK - 1, CHUNK, CHUNK + 1, 8000)


@settings(max_examples=100, deadline=None)
@given(
    length=st.sampled_from(LENGTHS),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 10.0, 100.0]),
    temperature=st.sampled_from([0.1, 0.8, 1.0, 1.7]),
    seed=st.integers(0, 2**31),
)
def test_sums_have_the_precision_of_float32(
    length: int, spread: float, temperature: float, seed: int
) -> None:
    row = np.random.default_rng(seed).normal(0.0, spread, length).astype(np.float32)
    found = sum_of_exponentials(row, row.max(), np.float32(1 / temperature), new_scratch())
    shifted = (row - row.max()) * np.float32(1 / temperature)
    np.testing.assert_allclose(found, np.exp(shifted.astype(np.float64)).sum(), rtol=4e-7)


@pytest.mark.parametrize("length", LENGTHS)
def test_maxima_are_those_of_the_blocks(length: int) -> None:
    row = np.random.default_rng(length).normal(size=length).astype(np.float32)
    maxima = np.empty(-(-length // BLOCK), np.float32)
    write_block_maxima(row, maxima)
    expected = [row[begin : begin + BLOCK].max() for begin in range(0, length, BLOCK)]
    np.testing.assert_array_equal(maxima, expected)


def test_what_is_not_allowed_adds_nothing() -> None:
    row = np.full(1000, -np.inf, np.float32)
    row[500] = 3.0
    found = sum_of_exponentials(row, np.float32(3.0), np.float32(1.0), new_scratch())
    assert found == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("place", [0, 100, 999])
def test_nan_is_not_lost(place: int) -> None:
    row = np.zeros(1000, np.float32)
    row[place] = np.nan
    assert np.isnan(sum_of_exponentials(row, np.float32(0), np.float32(1), new_scratch()))
