"""Which runs are one decoder at several budgets: a report joins them to a scaling curve.

Names say it by the number at their end. That may also be a seed, a year or a temperature, so the
cost has to grow with it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

# A number at the end, but no decimals: t0.25 and t0.75 are no budgets.
_BUDGET = re.compile(r"^(.*?[^\d.,_ -])[-_ ]?(\d+)$")
# The cost of samples also differs from seed to seed, by their lengths.
_LEAST_GROWTH = 1.1


class CostedRun(Protocol):
    """As much of a run as a curve is made of."""

    @property
    def name(self) -> str: ...

    @property
    def search(self) -> str: ...

    @property
    def charged_per_token(self) -> float | None: ...


class _Member(NamedTuple):
    cost: float
    budget: int | None  # by its name; None: it has no number, but others of this name have
    run: int


def scaling_curves(runs: Sequence[CostedRun]) -> list[list[int]]:
    """Numbers of runs of the same decoder and name that cost ever more, the cheapest first."""
    families: dict[tuple[str, str], list[_Member]] = {}
    for number, run in enumerate(runs):
        cost = run.charged_per_token
        if not cost:
            continue
        match = _BUDGET.match(run.name)
        name, budget = (run.name, None) if match is None else (match[1], int(match[2]))
        families.setdefault((name, run.search), []).append(_Member(cost, budget, number))
    curves = [sorted(members, key=lambda one: one.cost) for members in families.values()]
    return [[one.run for one in members] for members in curves if _is_curve(members)]


def _is_curve(members: Sequence[_Member]) -> bool:
    budgets = [one.budget for one in members if one.budget is not None]
    return (
        len(members) > 1
        and all(one.cost * _LEAST_GROWTH <= other.cost for one, other in pairwise(members))
        and all(one < other for one, other in pairwise(budgets))
    )
