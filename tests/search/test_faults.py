"""Answers that no search may go on with are found, whichever part of them is at fault."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search.evaluator import Answers, Requests
from fairseq_mcts.search.faults import find_fault

NAN, BLOCKED = "the network returned NaN", "no token is allowed"


def make_requests() -> Requests:
    """Four prefixes, the last one finished; two draws of the second one."""
    rows = np.arange(4, dtype=np.int32)
    return Requests(
        slots=rows,
        sentences=rows,
        parents=rows,
        tokens=rows,
        depths=rows,
        finished=np.array([False, False, False, True]),
        only_token=rows,
        eos_allowed=np.ones(4, np.bool_),
        banned_rows=np.zeros(0, np.int32),
        banned_tokens=np.zeros(0, np.int32),
        draw_rows=np.array([1, 1], np.int32),
        draw_uniforms=np.zeros(2),
    )


def make_answers() -> Answers:
    return Answers(
        num_actions=np.array([2, 2, 1, 0], np.int32),
        action_tokens=np.zeros((4, 2), np.int32),
        action_logprobs=np.full((4, 2), -0.5),
        weights=np.full((4, 2), 0.5),
        values=np.zeros(4),
        drawn_tokens=np.zeros(2, np.int32),
        drawn_logprobs=np.full(2, -0.5),
    )


def changed(field: str, place: Any, value: float) -> Answers:
    answers = make_answers()
    array = getattr(answers, field).copy()
    array[place] = value
    return replace(answers, **{field: array})


def test_sound_answers_pass() -> None:
    assert find_fault(make_requests(), make_answers(), wants_actions=True) is None


@pytest.mark.parametrize(
    ("field", "place", "value", "row", "fault"),
    [
        ("values", 2, np.nan, 2, NAN),
        ("values", 3, np.inf, 3, NAN),
        ("action_logprobs", (1, 1), np.nan, 1, NAN),
        ("weights", (0, 0), np.nan, 0, NAN),
        ("drawn_logprobs", 1, np.nan, 1, NAN),
        ("drawn_logprobs", 0, -np.inf, 1, BLOCKED),
        ("num_actions", 2, 0, 2, BLOCKED),
    ],
)
def test_each_fault_is_found(field: str, place: Any, value: float, row: int, fault: str) -> None:
    answers = changed(field, place, value)
    assert find_fault(make_requests(), answers, wants_actions=True) == (row, fault)


def test_without_actions_none_are_missed() -> None:
    answers = changed("num_actions", 2, 0)
    assert find_fault(make_requests(), answers, wants_actions=False) is None


def test_nan_is_told_before_a_dead_end() -> None:
    answers = replace(changed("num_actions", 0, 0), values=np.array([0.0, 0.0, np.nan, 0.0]))
    assert find_fault(make_requests(), answers, wants_actions=True) == (2, NAN)
