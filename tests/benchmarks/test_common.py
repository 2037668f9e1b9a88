"""Bars, medians and reports."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import common
import pytest
import render


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(
        **{"json": None, "repeats": 3, "clock": "wall", "threads": 1, "device": "cpu", **given}
    )


def test_bars() -> None:
    assert common.Bar(1.1, at_most=True).is_met(1.1)
    assert not common.Bar(1.1, at_most=True).is_met(1.2)
    assert common.Bar(5.0, at_most=False).is_met(5.0)
    assert not common.Bar(5.0, at_most=False).is_met(4.9)
    assert common.at_least(None) is None and common.at_most(None) is None


def test_verdict_needs_equal_outputs() -> None:
    bar = common.Bar(5.0, at_most=False)
    assert common.Comparison("a / b", 9.0, bar, {}, outputs_equal=True).verdict == "met"
    assert common.Comparison("a / b", 1.0, bar, {}, outputs_equal=True).verdict == "NOT met"
    unequal = common.Comparison("a / b", 9.0, bar, {}, outputs_equal=False)
    assert unequal.verdict == "NOT met: outputs differ"
    assert common.Comparison("a / b", 9.0, None, {}).verdict == "stated"


def test_sides_take_turns_and_the_first_turn_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    turns: list[str] = []
    # what each turn takes: the first one of each side is slow, one of the others an outlier
    costs = {"a": iter([100.0, 1.0, 50.0, 3.0]), "b": iter([100.0, 2.0, 2.0, 2.0])}

    def work(side: str) -> None:
        nonlocal now
        turns.append(side)
        now += next(costs[side])

    monkeypatch.setitem(common.CLOCKS, "wall", lambda: now)
    seconds = common.alternate({"a": lambda: work("a"), "b": lambda: work("b")}, options())
    assert turns == ["a", "b"] * 4
    assert seconds == {"a": 3.0, "b": 2.0}


def test_the_clock_of_the_processor_counts_processes_that_have_ended() -> None:
    own, begun = time.process_time(), common.CLOCKS["cpu"]()
    work = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", work], check=True)
    assert common.CLOCKS["cpu"]() - begun >= 0.2 > time.process_time() - own


def test_bad_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        common.parse(common.make_parser("…"), ["--repeats", "0"])
    assert "--repeats 0" in capsys.readouterr().err


def test_report_becomes_a_row_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "results" / "one.json"
    report = common.Report("overhead", options(json=path, size="small"), {"weights": "random"})
    bar = common.Bar(1.25, at_most=True)
    report.add(common.Comparison("search / network", 1.2345, bar, {"search s": 2.0}))
    report.write()
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["settings"]["weights"] == "random"
    assert content["comparisons"][0]["parts"] == {"search s": 2.0}
    assert content["machine"]["torch"]
    table = render.render([content])
    assert "| overhead | small | search / network | 1.23 | ≤ 1.25 | met |" in table
