"""Which runs make a scaling curve."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fairseq_mcts.report.curves import scaling_curves


@dataclass(frozen=True)
class Run:
    name: str
    charged_per_token: float | None
    search: str = "mcts"


def curves(*runs: tuple[str, float | None] | Run) -> list[list[str]]:
    made = [run if isinstance(run, Run) else Run(*run) for run in runs]
    return [[made[number].name for number in numbers] for numbers in scaling_curves(made)]


def test_budgets_of_one_decoder() -> None:
    found = curves(("mcts-16", 16), ("vgbs_8", 8), ("mcts-4", 4), ("vgbs_16", 16), ("mcts-100", 90))
    assert found == [["mcts-4", "mcts-16", "mcts-100"], ["vgbs_8", "vgbs_16"]]


def test_the_name_alone_beside_its_budgets() -> None:
    assert curves(("vgbs", 7), ("vgbs-50", 56)) == [["vgbs", "vgbs-50"]]
    assert curves(("a", 56), ("a100", 110), ("a4", 4)) == [["a4", "a", "a100"]]


@pytest.mark.parametrize(
    "runs",
    [
        [("sr-t0.25", 50), ("sr-t0.75", 60)],  # temperatures
        [("sr-t25", 50), ("sr-t75", 50)],
        [("mcts-seed1", 50), ("mcts-seed2", 50)],
        [("sr-seed1", 51), ("sr-seed2", 48.5), ("sr-seed3", 52)],  # their lengths differ
        [("wmt14-x", 5), ("wmt20-x", 50)],
        [("run-2020", 50), ("run-2014", 100)],  # the greater number costs less
        [("mcts-4", None), ("mcts-16", 16)],
        [Run("best-1", 5, "beam"), Run("best-2", 50, "mcts")],
        [("16", 16), ("4", 4)],  # no name is left
    ],
)
def test_what_is_no_budget(runs: list[tuple[str, float | None] | Run]) -> None:
    assert curves(*runs) == []
