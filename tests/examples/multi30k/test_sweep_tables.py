"""The tables of the sweeps, from files as the study leaves them."""

from examples.multi30k import sweep_tables
from examples.multi30k.layout import Layout
from examples.multi30k.study import SCALING_BUDGETS
from examples.multi30k.sweep_tables import UNPRIVILEGED
from examples.multi30k.tuning import ALPHA, BACKUP, BEAM, TEMPERATURE
from tests.examples.multi30k.conftest import (
    Trials,
    cells,
)


def test_sweeps_beside_the_paper(layout: Layout, trials: Trials) -> None:
    trials.write(f"{UNPRIVILEGED}-vgbs", ALPHA, [0.8 + n / 100 for n in range(9)])
    row = cells(sweep_tables.alphas(layout))["0.95"]
    assert row == ["–", "–", "79.47", "87.00", "85.55", "67.00"]

    trials.write(f"{UNPRIVILEGED}-mcts-backup", BACKUP, [0.81, 0.82, 0.80, 0.83, 0.84, 0.80])
    rows = cells(sweep_tables.backups(layout))
    assert rows["MLBERTScore"] == ["81.00", "82.00", "80.00", "83.00", "84.00", "80.00"]
    assert rows["BLEU"] == ["–"] * 6

    trials.write(f"{UNPRIVILEGED}-sr", TEMPERATURE, [0.81 + n / 100 for n in range(6)])
    row = cells(sweep_tables.temperatures(layout))["0.25"]
    assert row == ["81.00", "84.35", "–", "26.23", "–", "88.32", "–", "84.02", "61.00"]

    trials.write("beam", BEAM, [0.5 + (n % 4 == 1) / 10 for n in range(24)])
    assert cells(sweep_tables.beam_sizes(layout))["6"][:3] == ["40.00", "28.03", "0.6"]

    budgets = {"search-budget": SCALING_BUDGETS}
    trials.write(f"{UNPRIVILEGED}-scaling-sr", budgets, [0.8 + n / 100 for n in range(8)])
    rows = cells(sweep_tables.scaling(layout, "mlbertscore"))
    assert rows["budget"] == ["S+R", "its BLEU", "paper"]
    assert rows["300"] == ["87.00", "67.00", "85.89"]


def test_values_from_samples_beside_those_from_greedy_translations(
    layout: Layout, trials: Trials
) -> None:
    trials.write("dual-mlbertscore-mcts-backup", BACKUP, [0.81, 0.84, 0.83, 0.82, 0.8, 0.8])
    trials.write("dual-mlbertscore-sampled-mcts-backup", BACKUP, [0.85, 0.84, 0.83, 0.82, 0.8, 0.8])
    rows = cells(sweep_tables.greedy_or_sampled(layout))
    assert rows["MLBERTScore, V-MCTS"] == ["84.00", "30.00", "85.00", "30.00"]
    assert rows["MLBERTScore, VGBS"] == ["–"] * 4

    trials.write("hybrid-bleu-sampled-vgbs", ALPHA, [0.5 + n / 100 for n in range(9)])
    rows = cells(sweep_tables.greedy_or_sampled(layout))
    assert rows["BLEU, VGBS"] == ["–", "–", "38.00", "30.00"]
