"""Draws from scores are those from whole distributions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.policy import draw_tokens
from fairseq_mcts.search.row_sums import CHUNK


@settings(max_examples=100, deadline=None)
@given(
    vocabulary=st.sampled_from([3, 40, CHUNK, CHUNK + 1, 3 * CHUNK + 5]),
    spread=st.sampled_from([0.0, 1.0, 8.0]),
    not_allowed=st.sampled_from([0.0, 0.5, 0.95]),
    temperature=st.sampled_from([0.25, 0.75, 1.0, 1.5]),
    seed=st.integers(0, 2**31),
)
def test_draws_are_those_from_the_whole_distribution(
    vocabulary: int, spread: float, not_allowed: float, temperature: float, seed: int
) -> None:
    dice = np.random.default_rng(seed)
    rows = dice.normal(5.0, spread, (3, vocabulary)).astype(np.float32)
    rows[dice.random(rows.shape) < not_allowed] = -np.inf
    rows[:, 1] = 5.0  # something is always allowed
    draw_rows = np.sort(dice.integers(0, 3, 40)).astype(np.int32)
    uniforms = dice.random(40)
    expected = draw_tokens(rows, draw_rows, uniforms, temperature, 0, 1.0, 0.0)
    found = draw_from_scores(rows, draw_rows, uniforms, temperature)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("uniform", "expected"), [(0.0, CHUNK + 2), (np.nextafter(1.0, 0.0), 2 * CHUNK + 7)]
)
def test_both_ends_of_the_interval_are_allowed_tokens(uniform: float, expected: int) -> None:
    row = np.full((1, 3 * CHUNK), -np.inf, np.float32)
    row[0, [CHUNK + 2, CHUNK + 5, 2 * CHUNK + 7]] = 1.0
    drawn = draw_from_scores(row, np.zeros(1, np.int32), np.array([uniform]), 1.0)
    assert drawn.tolist() == [expected]
