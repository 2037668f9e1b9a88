"""Both ways of reading policies give the same answers: compiled kernels and tensor operations."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.decoding.device_readout import mask_rows, read_on_device
from fairseq_mcts.decoding.host_readout import read_on_host
from fairseq_mcts.search.evaluator import (
    EMPTY_NUMBERS,
    EMPTY_ROWS,
    Answers,
    Question,
    Requests,
    SamplingFilter,
)
from fairseq_mcts.search.read_rows import TokenRules
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
    """[n, V] scores of few different sizes, some of them -inf."""
    seed = draw(st.integers(0, 2**31))
    levels = draw(st.integers(1, 6))
    dice = np.random.default_rng(seed)
    shape = (draw(st.integers(1, 5)), draw(st.sampled_from([7, 40, 63, 64, 65, 300])))
    rows = torch.tensor(dice.integers(0, levels, shape)).float()
    rows[torch.from_numpy(dice.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.9])))] = -torch.inf
    return rows


def random_requests(dice: np.random.Generator, count: int, vocabulary: int) -> Requests:
    """Forced tokens, early eos, bans and draws, here and there."""
    only = np.where(dice.random(count) < 0.2, dice.integers(0, vocabulary, count), NO_TOKEN)
    num_bans = int(dice.integers(0, 4))
    bans = np.sort(dice.integers(0, count, num_bans))
    bans = bans[only[bans] == NO_TOKEN]
    return make_requests(
        count,
        only_token=only.astype(np.int32),
        eos_allowed=dice.random(count) < 0.7,
        banned_rows=bans.astype(np.int32),
        banned_tokens=dice.integers(0, vocabulary, len(bans)).astype(np.int32),
        draw_rows=np.sort(dice.integers(0, count, 12)).astype(np.int32),
        draw_uniforms=dice.random(12),
    )


def make_rules(penalised: dict[int, float]) -> TokenRules:
    return TokenRules(
        eos=EOS,
        forbidden=np.array([1], np.int32),
        penalised=np.array(list(penalised), np.int32),
        penalties=np.array(list(penalised.values()), np.float64),
    )


# no round numbers, which sums of equal probabilities may hit but for their last bit
FILTERS = st.builds(
    SamplingFilter,
    top_k=st.sampled_from([0, 1, 3, 7, 1000]),
    top_p=st.sampled_from([1.0, 0.8731, 0.4717, 0.0129]),
    epsilon=st.sampled_from([0.0, 0.0217, 0.2071]),
)


@settings(max_examples=300, deadline=None)
@given(
    rows=tied_rows(),
    actions=st.sampled_from([0, 1, 3, 20, 45]),
    temperature=st.sampled_from([0.25, 0.75, 1.0, 1.5]),
    as_priors=st.booleans(),
    penalised=st.sampled_from([{}, {3: 0.5}, {3: -0.75, 1: 2.25}]),
    drawing=st.just(SamplingFilter()) | FILTERS,
    distinct=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_both_ways_give_the_same_answers(
    rows: torch.Tensor,
    actions: int,
    temperature: float,
    as_priors: bool,
    penalised: dict[int, float],
    drawing: SamplingFilter,
    distinct: bool,
    seed: int,
) -> None:
    rows[:, [0, 3]] = 1.0  # something is always allowed
    dice = np.random.default_rng(seed)
    requests = random_requests(dice, len(rows), rows.size(1))
    rows[requests.only_token != NO_TOKEN] = 1.0  # a forced token is always possible
    question = Question(
        actions, temperature, as_priors, value=False, sampling=drawing, distinct=distinct
    )
    rules = make_rules(penalised)
    compiled = read_on_host(rows.clone(), requests, question, rules)
    on_device = read_on_device(rows.clone(), requests, question, rules)
    for name in ("num_actions", "action_tokens", "drawn_tokens"):
        np.testing.assert_array_equal(getattr(on_device, name), getattr(compiled, name), name)
        assert getattr(on_device, name).dtype == getattr(compiled, name).dtype
    drawn = ("drawn_logprobs", "drawn_shares", "drawn_left")
    assert len(compiled.drawn_shares) == len(compiled.drawn_left) == 12 * distinct
    for name in ("action_logprobs", "weights", *drawn):
        np.testing.assert_allclose(
            getattr(on_device, name), getattr(compiled, name), 1e-5, 1e-6, err_msg=name
        )


@pytest.mark.parametrize("read", [read_on_host, read_on_device])
def test_finished_prefixes_have_no_policy(read: Callable[..., Answers]) -> None:
    finished = np.array([True, False, True, False])
    rows = torch.randn(2, 50, generator=torch.Generator().manual_seed(1))
    draws = {"draw_rows": np.array([1, 3, 3], np.int32), "draw_uniforms": np.array([0.1, 0.4, 0.8])}
    question = Question(actions=3, temperature=0.9, as_priors=True, value=False)
    requests = make_requests(4, finished=finished, **draws)
    found = read(rows.clone(), requests, question, make_rules({}))
    draws["draw_rows"] = np.array([0, 1, 1], np.int32)
    alone = read(rows.clone(), make_requests(2, **draws), question, make_rules({}))
    assert found.num_actions.tolist() == [0, 3, 0, 3]
    for name in ("action_tokens", "action_logprobs", "weights"):
        assert not getattr(found, name)[finished].any()
        np.testing.assert_array_equal(getattr(found, name)[~finished], getattr(alone, name))
    for name in ("drawn_tokens", "drawn_logprobs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


def test_answers_are_what_a_softmax_says() -> None:
    dice = np.random.default_rng(3)
    scores = dice.normal(0.0, 4.0, (3, 1000)).astype(np.float32)
    scores[1, EOS] = 40.0  # by far the best, and not allowed
    requests = make_requests(
        3,
        eos_allowed=np.array([True, False, True]),
        banned_rows=np.array([2], np.int32),
        banned_tokens=np.array([int(scores[2].argmax())], np.int32),
    )
    question = Question(actions=5, temperature=0.5, as_priors=True, value=False)
    read = read_on_host(torch.tensor(scores), requests, question, make_rules({}))
    exact = scores.astype(np.float64)
    logprobs = exact - np.log(np.exp(exact - 40.0).sum(axis=1, keepdims=True)) - 40.0
    masked = logprobs.copy()
    masked[:, 1] = masked[1, EOS] = masked[2, requests.banned_tokens[0]] = -np.inf
    best = np.argsort(-masked, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(read.action_tokens, best)
    np.testing.assert_allclose(
        read.action_logprobs, np.take_along_axis(logprobs, best, 1), atol=1e-6
    )
    weights = np.exp(2.0 * (masked - masked.max(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(read.weights, np.take_along_axis(weights, best, 1), rtol=1e-5)


def test_draws_at_the_very_end_of_the_interval_stay_inside() -> None:
    rows = torch.log(torch.tensor([[0.1, 0.0, 0.2, 0.7, 0.0]]))
    requests = make_requests(
        1, draw_rows=np.zeros(1, np.int32), draw_uniforms=np.array([np.nextafter(1.0, 0.0)])
    )
    question = Question(0, 1.0, as_priors=False, value=False, sampling=SamplingFilter())
    for read in (read_on_host, read_on_device):
        answers = read(rows.clone(), requests, question, make_rules({}))
        assert answers.drawn_tokens.tolist() == [3]


@pytest.mark.parametrize("read", [read_on_host, read_on_device])
@pytest.mark.parametrize("number", [torch.nan, torch.inf])
@pytest.mark.parametrize("forced", [NO_TOKEN, 7])
@pytest.mark.parametrize("broken", [slice(None), 1, 5, 70])  # 1 is forbidden
def test_nan_and_infinity_show(
    read: Callable[..., Answers], broken: slice | int, forced: int, number: float
) -> None:
    rows = torch.zeros((2, 100))
    rows[1, broken] = number
    requests = make_requests(
        2,
        only_token=np.array([NO_TOKEN, forced], np.int32),
        draw_rows=np.array([0, 1], np.int32),
        draw_uniforms=np.array([0.5, 0.5]),
    )
    question = Question(3, 0.7, as_priors=False, value=False, sampling=SamplingFilter())
    answers = read(rows, requests, question, make_rules({}))
    assert np.isfinite(answers.action_logprobs[0]).all()
    assert np.isnan(answers.action_logprobs[1]).any()
    assert np.isfinite(answers.drawn_logprobs).tolist() == [True, False]


@pytest.mark.parametrize("read", [read_on_host, read_on_device])
def test_nothing_is_left_where_nothing_is_allowed(read: Callable[..., Answers]) -> None:
    rows = torch.full((1, 8), -torch.inf)
    rows[0, EOS] = 0.0
    requests = make_requests(1, eos_allowed=np.array([False]))
    question = Question(actions=3, temperature=1.0, as_priors=True, value=False)
    answers = read(rows, requests, question, make_rules({}))
    assert answers.num_actions.tolist() == [0]
    assert not answers.weights.any()


@pytest.mark.parametrize("read", [read_on_host, read_on_device])
@pytest.mark.parametrize("as_priors", [False, True])
def test_an_impossible_token_can_not_be_forced(
    read: Callable[..., Answers], as_priors: bool
) -> None:
    rows = torch.zeros((1, 8))
    rows[0, 5] = -torch.inf
    requests = make_requests(1, only_token=np.array([5], np.int32))
    question = Question(actions=3, temperature=1.0, as_priors=as_priors, value=False)
    answers = read(rows, requests, question, make_rules({}))
    assert answers.num_actions.tolist() == [0]


def test_masks_leave_what_may_follow() -> None:
    logprobs = torch.log_softmax(torch.arange(12.0).view(2, 6), dim=-1)
    requests = make_requests(
        2,
        only_token=np.array([NO_TOKEN, 1], np.int32),  # forced, though forbidden otherwise
        eos_allowed=np.array([False, True]),
        banned_rows=np.array([0], np.int32),
        banned_tokens=np.array([4], np.int32),
    )
    masked = mask_rows(logprobs.clone(), make_rules({}), requests)
    question = Question(actions=6, temperature=1.0, as_priors=False, value=False)
    answers = read_on_host(logprobs.clone(), requests, question, make_rules({}))
    allowed = [row.isfinite().nonzero().flatten().tolist() for row in masked]
    assert allowed == [[0, 3, 5], [1]]
    assert [sorted(set(row.tolist()) - {0}) for row in answers.action_tokens] == [[3, 5], [1]]
    assert answers.num_actions.tolist() == [3, 1]
    kept = masked.isfinite()
    assert masked[kept].equal(logprobs[kept])
