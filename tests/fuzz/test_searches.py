"""Some random searches at every run of the tests; `make fuzz` goes through a hundred thousand."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairseq_mcts.search import decoder_names
from tests.fuzz.choices import Choices, HypothesisChoices, SeededChoices
from tests.fuzz.search_cases import random_case
from tests.fuzz.search_checks import check_search

SEED = 2  # not that of the long run
CASES = 250


def run(choices: Choices) -> tuple[str, bool]:
    """The decoder of a case, and whether it was decoded."""
    case = random_case(choices)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        decoded = check_search(case, alone=choices.integer(0, case.num_sentences - 1))
    return case.search, decoded


def test_random_searches() -> None:
    outcomes = [run(SeededChoices(SEED, number)) for number in range(CASES)]
    for name in decoder_names():
        assert (name, True) in outcomes, f"no search by {name} came to its end"
    refused = sum(not decoded for _, decoded in outcomes) / CASES
    assert 0.02 < refused < 0.3, "hardly any case is odd, or most are"


@given(data=st.data())
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_searches_of_hypothesis(data: st.DataObject) -> None:
    run(HypothesisChoices(data))


@pytest.mark.parametrize("number", [1, 2])
def test_two_integers_name_a_case(number: int) -> None:
    cases = [random_case(SeededChoices(SEED, number)) for _ in range(2)]
    assert cases[0] == cases[1] != random_case(SeededChoices(SEED, number + 2))
