"""As many distinct samples as are charged like independent ones."""

import pytest

from examples.budget_curves.charges import charge, equally_charged
from tests.examples.budget_curves.fakes import trial

NUMBERS = (1, 4, 16, 64)


def test_charges_are_those_of_a_token() -> None:
    assert charge(trial([], charged=12.5)) == 12.5


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_numbers_between_and_beyond_what_was_measured(power: float) -> None:
    """Where distinct samples are charged by a power of their number."""
    plain = [trial([], charged=2 * number) for number in NUMBERS]
    distinct = [trial([], charged=2 * number**power) for number in NUMBERS]
    budgets = [1, 4, 7, 9, 64, 100]
    expected = [round(budget ** (1 / power)) for budget in budgets]
    found = equally_charged(budgets, NUMBERS, plain, distinct)
    assert found == pytest.approx(expected, rel=0.03)


def test_where_there_are_no_more_distinct_samples() -> None:
    plain = [trial([], charged=number) for number in NUMBERS]
    distinct = [trial([], charged=min(number, 16)) for number in NUMBERS]
    assert equally_charged([4, 16], NUMBERS, plain, distinct)[0] == 4
