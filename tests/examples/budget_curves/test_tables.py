"""The tables from curves that were made up."""

import pytest

from examples.budget_curves import tables
from examples.budget_curves.curves import Curve, value_of, without
from examples.budget_curves.scores import Scores
from fairseq_mcts.metrics import build_metric
from tests.conftest import ParallelTexts
from tests.examples.budget_curves.fakes import curve, trial
from tests.examples.multi30k.conftest import cells

SENTENCES = 40


@pytest.fixture
def references(toy_pairs: ParallelTexts) -> list[str]:
    return toy_pairs.targets[:SENTENCES]


@pytest.fixture
def faulty(references: list[str]) -> list[str]:
    return [text.replace("Garten", "Haus").replace("heute", "nie") for text in references]


@pytest.fixture
def curves(references: list[str], faulty: list[str]) -> list[Curve]:
    """Beam search with some faults; one way that finds the references, one that falls again."""
    half = [*references[:30], *faulty[30:]]
    return [
        curve("bellman", {4: trial(faulty, value=0.9), 50: trial(references, value=1.25)}),
        curve("max", {4: trial(references, value=1.0), 50: trial(faulty, value=1.0)}),
        curve("sr", {4: trial(faulty, 4, 3), 16: trial(half, 16, 9)}),
        curve("sr-distinct", {4: trial(faulty, 4, 4), 16: trial(references, 15.5, 15.5)}, factor=2),
        curve("mix-0.7", {4: trial(faulty), 16: trial(references)}),
        curve("beam", {8: trial(faulty, 8, 8)}),
    ]


@pytest.fixture
def scores(curves: list[Curve], references: list[str], toy_pairs: ParallelTexts) -> Scores:
    metrics = [build_metric("chrf"), build_metric("bleu")]
    return Scores(metrics, toy_pairs.sources[:SENTENCES], references, curves[-1])


def test_scores_by_budget(curves: list[Curve], scores: Scores) -> None:
    first, _, *table = tables.by_budget(curves, scores, scores.metrics[0]).splitlines()
    rows = cells("\n".join(table))
    assert rows[""] == ["4", "16", "50"]
    beam = first.removeprefix("Beam search: ").removesuffix(".")
    assert rows["V-MCTS, pUCT: bellman"] == [f"{beam} (1.000)", "–", "100.00 (<.001)"]


def test_evaluations(curves: list[Curve]) -> None:
    rows = cells(tables.evaluations(curves))
    assert rows["S+R: sr-distinct"] == ["4.0 / 4.0", "–", "15.5 / 15.5", "–"]


def test_what_rises_and_what_falls(curves: list[Curve], scores: Scores) -> None:
    rows = cells(tables.growth(curves, scores))
    rise, fall = rows["V-MCTS, pUCT: bellman"], rows["V-MCTS, pUCT: max"]
    assert (*rise[:2], *rise[3:5]) == ("chrf", "4", "50", "100.00")
    assert float(rise[5]) == -float(fall[5]) > 0
    assert rise[6] == fall[6] == "<.001"
    assert "Baseline: beam" not in rows


def test_samples_at_equal_charge(curves: list[Curve], scores: Scores) -> None:
    *_, plain, distinct = tables.equal_charge(curves, scores).splitlines()
    shown = [[cell.strip() for cell in row.strip("|").split("|")] for row in (plain, distinct)]
    assert shown[0][:4] == ["with", "16", "16.0", "9.0"]
    assert shown[1][:4] == ["without", "32", "15.5", "15.5"]
    assert shown[1][4].startswith("100.00 (")
    assert tables.equal_charge(curves[:3], scores) == ""


def test_a_mix_beside_its_parts(curves: list[Curve], scores: Scores) -> None:
    rows = cells(tables.mixes(curves, scores))
    assert {"budget 16", "beam", "sr", "mix-0.7"} < rows.keys()
    assert rows["mix-0.7"][0] == "100.00 (<.001)"
    assert tables.mixes(curves[:2], scores) == ""


def test_what_values_promise(curves: list[Curve], scores: Scores) -> None:
    rows = cells(tables.promises(curves, scores, scores.metrics[0]))
    assert rows["V-MCTS, pUCT: bellman"][1] == "+25.0000"
    assert rows["V-MCTS, pUCT: max"][0] == "+0.0000"
    assert not any(name.startswith("S+R") for name in rows)


def test_settings_and_flags(curves: list[Curve]) -> None:
    assert "| `--mcts-c-puct 2`" in tables.settings(curves).replace("  ", " ").replace("  ", " ")
    flags = ("--beam", "8", "--lenpen", "1.0")
    assert value_of(flags, "beam") == "8"
    assert without(flags, "beam") == ("--lenpen", "1.0")
    assert without(flags, "search-budget") == flags
