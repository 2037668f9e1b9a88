"""Sentences that join a search as others leave it: same results, and no place stays empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.search import decode
from tests.search.compare import run
from tests.search.test_relations import SEARCHES, quick, search_options
from tests.search.toy_models import Prefix, ToyProblem, toy_problems

DISTINCT = {"search": "sr", "samples": 4, "without_replacement": True, "n_best": 4}
EOS = 0


def options_of(name: str, problem: ToyProblem) -> dict[str, Any]:
    return search_options(name, problem) if name in SEARCHES else dict(DISTINCT)


@pytest.mark.parametrize("name", [*SEARCHES, "sr distinct"])
@given(problem=toy_problems(max_sentences=6), at_once=st.integers(1, 5))
@quick
def test_results_are_the_same_and_places_are_kept(
    name: str, problem: ToyProblem, at_once: int
) -> None:
    together, asked_together = run(problem, **options_of(name, problem))
    joined, asked = run(problem, at_once=at_once, **options_of(name, problem))
    assert joined == together
    assert {one: sorted(of) for one, of in asked.asked.items()} == {
        one: sorted(of) for one, of in asked_together.asked.items()
    }
    for call in asked.calls:
        # what is finished but for its value has left its place
        at_work = {one for one, prefix in call if prefix[-1:] != (problem.model.eos,)}
        assert len(at_work) <= at_once


def ending_after(lengths: list[int]) -> Any:
    """A model of two words whose sentences have these lengths, and the calls that it was asked."""
    calls: list[set[int]] = []

    def evaluate(sentences: list[int], prefixes: list[Prefix]) -> tuple[np.ndarray, np.ndarray]:
        calls.append(set(sentences))
        ends = [
            len(prefix) >= lengths[one] for one, prefix in zip(sentences, prefixes, strict=True)
        ]
        likely = [[0.98, 0.01, 0.01] if end else [0.01, 0.6, 0.39] for end in ends]
        return np.log(likely), np.full(len(ends), 0.5)

    return evaluate, calls


@pytest.mark.parametrize(
    "options",
    [
        {"search": "beam", "beam": 1},
        {"search": "vgbs", "beam": 2, "alpha": 0.3},
        {"search": "mcts", "simulations": 4},
        {"search": "sr", "samples": 1, "temperature": 0.1},
    ],
    ids=lambda options: options["search"],
)
def test_short_sentences_follow_each_other_beside_a_long_one(options: dict[str, Any]) -> None:
    lengths = [2, 12, 2, 2]
    evaluate, calls = ending_after(lengths)
    decode(evaluate, 4, eos=EOS, max_len=14, at_once=2, **options)
    alone, calls_alone = ending_after([12])
    decode(alone, 1, eos=EOS, max_len=14, **options)
    assert len(calls) <= len(calls_alone) + 2
    assert set.union(*calls) == {0, 1, 2, 3}
    first = [min(place for place, call in enumerate(calls) if one in call) for one in range(4)]
    assert first == sorted(first)


def test_nobody_is_no_number_of_sentences() -> None:
    evaluate, _ = ending_after([1])
    with pytest.raises(ValueError, match="at_once: must be at least 1, is 0"):
        decode(evaluate, 1, eos=EOS, max_len=3, at_once=0, search="beam")
