"""Guesses of what will be wanted next: fewer calls of the evaluator, and nothing else changes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.search import Hypothesis, make_decoder
from tests.search.compare import by_sentence_id, run
from tests.search.toy_models import Prefix, ToyMetric, ToyModel, ToyProblem, toy_problems

some_models = settings(max_examples=60, deadline=None, derandomize=True, database=None)

KINDS: dict[str, dict[str, Any]] = {
    "mean": {},
    "max": {"backup": "max", "choose": "value", "c_puct": 8.0},
    "leaves": {"leaves": 3},
    "metric at the end": {"terminal": "metric"},
    "one action": {"actions": 1},
    "gumbel": {"root": "gumbel", "gumbel_actions": 4, "gumbel_scale": 1.0},
    "gumbel leaves": {"root": "gumbel", "below_root": "improved", "leaves": 3},
    "bellman": {"backup": "bellman"},
}

Calls = list[list[tuple[int, Prefix]]]  # (sentence, prefix) of each


def decode(
    problem: ToyProblem, kind: str, prefetch: int, **options: Any
) -> tuple[list[list[Hypothesis]], Calls]:
    if kind == "metric at the end":
        options["metric"] = by_sentence_id(problem, ToyMetric(3))
    results, evaluate = run(
        problem, search="mcts", prefetch=prefetch, n_best=3, trace=True, **KINDS[kind], **options
    )
    return results, evaluate.calls


@pytest.mark.parametrize("kind", KINDS)
@some_models
@given(
    problem=toy_problems(),
    prefetch=st.sampled_from((1, 2, 5, 12, 100)),
    simulations=st.sampled_from((1, 7, 20)),
)
def test_results_are_the_same(
    problem: ToyProblem, kind: str, prefetch: int, simulations: int
) -> None:
    """Hypotheses with their values, traces of all visits and values, and counts of evaluations."""
    without, needed = decode(problem, kind, 0, simulations=simulations)
    found, calls = decode(problem, kind, prefetch, simulations=simulations)
    assert found == without
    asked = [one for call in calls for one in call]
    assert len(set(asked)) == len(asked), "a prefix was evaluated twice"
    assert set(asked) >= {one for call in needed for one in call}
    assert len(calls) <= len(needed)


def peaked_problem(sentences: int) -> ToyProblem:
    model = ToyModel(vocab=12, eos=2, seed=4, policy="peaked")
    return ToyProblem(model, tuple(range(sentences)), max_len=8)


def test_a_single_sentence_needs_far_fewer_calls() -> None:
    problem = peaked_problem(sentences=1)
    without, needed = decode(problem, "mean", 0, simulations=40)
    found, calls = decode(problem, "mean", 12, simulations=40)
    assert found == without
    assert len(calls) < 0.6 * len(needed)
    assert max(map(len, calls)) <= 12


def test_calls_with_prefixes_enough_get_no_guesses() -> None:
    problem = peaked_problem(sentences=5)
    _, needed = decode(problem, "mean", 0, simulations=10)
    _, calls = decode(problem, "mean", 5, simulations=10)
    assert calls[:5] == needed[:5]
    assert [len(call) for call in calls[:5]] == [5] * 5


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"prefetch": -1}, r"^prefetch: must be 0 \(off\) or more, is -1"),
        ({"prefetch": 2, "leaf": "rollout"}, "^prefetch=2: has no effect with leaf='rollout'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_decoder("mcts", options).refuse_unread(options)
