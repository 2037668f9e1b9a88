"""Both ways of reading policies give the same answers: compiled kernels and tensor operations."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.decoding import readout
from fairseq_mcts.search.evaluator import EMPTY_NUMBERS, EMPTY_ROWS, Requests, SamplingFilter
from fairseq_mcts.search.tree import NO_NODE, NO_TOKEN

EOS = 2


def make_requests(count: int, **changed: np.ndarray) -> Requests:
    fields = {
        "slots": np.arange(count, dtype=np.int32),
        "sentences": np.zeros(count, np.int32),
        "parents": np.full(count, NO_NODE, np.int32),
        "tokens": np.full(count, NO_TOKEN, np.int32),
        "depths": np.zeros(count, np.int32),
        "finished": np.zeros(count, np.bool_),
        "only_token": np.full(count, NO_TOKEN, np.int32),
        "eos_allowed": np.ones(count, np.bool_),
        "banned_rows": EMPTY_ROWS,
        "banned_tokens": EMPTY_ROWS,
        "draw_rows": EMPTY_ROWS,
        "draw_uniforms": EMPTY_NUMBERS,
    }
    return Requests(**{**fields, **changed})  # type: ignore[arg-type]


@st.composite
def tied_rows(draw: st.DrawFn) -> torch.Tensor:
    """[n, V] log-probabilities of few different sizes, some of them -inf."""
    seed = draw(st.integers(0, 2**31))
    levels = draw(st.integers(1, 6))
    dice = np.random.default_rng(seed)
    shape = (draw(st.integers(1, 5)), draw(st.integers(2, 40)))
    rows = torch.log_softmax(torch.tensor(dice.integers(0, levels, shape)).float(), dim=-1)
    rows[torch.from_numpy(dice.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.9])))] = -torch.inf
    return rows


@settings(max_examples=150, deadline=None)
@given(rows=tied_rows(), actions=st.integers(1, 45), seed=st.integers(0, 2**31))
def test_best_tokens_are_the_same_with_ties(rows: torch.Tensor, actions: int, seed: int) -> None:
    finished = np.random.default_rng(seed).random(len(rows)) < 0.3
    compiled = readout.best_of_rows(rows, finished, actions)
    on_device = readout.best_on_device(rows, finished, actions)
    for one, other in zip(on_device, compiled, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


FILTERS = st.builds(
    SamplingFilter,
    top_k=st.sampled_from([0, 1, 3, 7, 1000]),
    top_p=st.sampled_from([1.0, 0.9, 0.5, 0.01]),
    epsilon=st.sampled_from([0.0, 0.02, 0.2]),
)


@settings(max_examples=150, deadline=None)
@given(
    rows=tied_rows(),
    drawing=FILTERS,
    temperature=st.sampled_from([0.25, 0.75, 1.0, 1.5]),
    seed=st.integers(0, 2**31),
)
def test_draws_are_the_same_with_ties_and_filters(
    rows: torch.Tensor, drawing: SamplingFilter, temperature: float, seed: int
) -> None:
    rows[:, 0] = -1.0  # something is always allowed
    dice = np.random.default_rng(seed)
    draw_rows = np.sort(dice.integers(0, len(rows), 30)).astype(np.int32)
    # not on a boundary between two tokens, where the last bit of a sum decides
    uniforms = dice.random(30)
    compiled = readout.draw_from_rows(rows, draw_rows, uniforms, temperature, drawing)
    on_device = readout.draw_on_device(rows, draw_rows, uniforms, temperature, drawing)
    np.testing.assert_array_equal(on_device, compiled)
    assert torch.isfinite(rows[draw_rows, compiled]).all()


def test_draws_at_the_very_end_of_the_interval_stay_inside() -> None:
    rows = torch.log(torch.tensor([[0.1, 0.2, 0.7, 0.0]]))
    end = np.array([np.nextafter(1.0, 0.0)])
    row = np.zeros(1, np.int32)
    for drawn in (
        readout.draw_from_rows(rows, row, end, 1.0, SamplingFilter()),
        readout.draw_on_device(rows, row, end, 1.0, SamplingFilter()),
    ):
        assert drawn.tolist() == [2]


@pytest.mark.parametrize("on_device", [False, True])
def test_nan_is_not_mistaken_for_a_forbidden_token(on_device: bool) -> None:
    rows = torch.full((1, 8), torch.nan)
    read = readout.best_on_device if on_device else readout.best_of_rows
    counts, _, logprobs = read(rows, np.zeros(1, np.bool_), 3)
    assert counts.tolist() == [3]
    assert np.isnan(logprobs).any()


def test_masks_leave_what_may_follow() -> None:
    logprobs = torch.log_softmax(torch.arange(12.0).view(2, 6), dim=-1)
    requests = make_requests(
        2,
        only_token=np.array([NO_TOKEN, 1], np.int32),  # forced, though forbidden otherwise
        eos_allowed=np.array([False, True]),
        banned_rows=np.array([0], np.int32),
        banned_tokens=np.array([4], np.int32),
    )
    masked = readout.mask_rows(logprobs.clone(), torch.tensor([1]), EOS, requests)
    allowed = [row.isfinite().nonzero().flatten().tolist() for row in masked]
    assert allowed == [[0, 3, 5], [1]]
    kept = masked.isfinite()
    assert masked[kept].equal(logprobs[kept])
