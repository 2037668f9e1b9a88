"""The report, from files as the study leaves them."""

import sys
from pathlib import Path

import pytest

from examples.multi30k import report
from examples.multi30k.layout import Layout
from examples.multi30k.study import SCALING_BUDGETS
from examples.multi30k.sweep_tables import UNPRIVILEGED
from tests.examples.multi30k.conftest import (
    Trials,
)


def test_the_report_is_made_from_an_unfinished_study(
    decoded: Layout, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials.write(
        f"{UNPRIVILEGED}-scaling-mcts",
        {"search-budget": SCALING_BUDGETS},
        [0.8 + n / 100 for n in range(8)],
    )
    options = ["--work", str(decoded.work), "--encoder", decoded.encoder]
    monkeypatch.setattr(sys, "argv", ["report", *options])
    assert report.main() == 0
    text = (decoded.work / "report" / "tables.md").read_text()
    assert "## Main comparison, en-de (table 4)" in text
    assert "(pictures/scaling-en-de-mlbertscore.svg)" in text
    plot = decoded.work / "report" / "pictures" / "scaling-en-de-mlbertscore.svg"
    assert "</svg>" in plot.read_text()


def test_what_stands_above_the_tables_is_kept(
    decoded: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "RESULTS.md"
    file.write_text("# What we found\n")
    options = ["--work", str(decoded.work), "--encoder", decoded.encoder, "--into", str(file)]
    monkeypatch.setattr(sys, "argv", ["report", *options])
    for _ in range(2):  # the second time there are tables to be replaced
        assert report.main() == 0
        text = file.read_text()
        assert text.startswith("# What we found\n\n<!-- below")
        assert text.count("# All tables") == 1


def test_a_folder_without_a_study_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["report", "--work", str(tmp_path), "--encoder", "e"])
    assert report.main() == 2
    assert f"--work {tmp_path}: holds no study" in capsys.readouterr().err
