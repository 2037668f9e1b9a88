"""The progress of stages on terminals and in log files."""

import io
import re
import time

import pytest

from examples.common import progress as module
from examples.common.progress import StageProgress, write_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_a_bar_that_vanishes_at_the_end() -> None:
    terminal = Terminal()
    progress = StageProgress("train", terminal)
    for step in (50, 100):
        time.sleep(0.15)  # bars are drawn ten times a second
        progress.update(step, 100)
    progress.close()

    drawn = terminal.getvalue().split("\r")
    assert any(re.search(r"  train:  50%\|.*\| 50/100", text) for text in drawn)
    assert any(re.search(r"  train: 100%\|.*\| 100/100", text) for text in drawn)
    assert "\n" not in terminal.getvalue()
    assert drawn[-1].strip() == ""


def test_stages_that_run_together_have_a_bar_each() -> None:
    terminal = Terminal()
    train, encoder = StageProgress("train", terminal), StageProgress("encoder", terminal)
    train.update(5, 10)
    encoder.update(1, 4)
    encoder.close()
    train.close()
    assert "\n\r  encoder:" in terminal.getvalue()


class Clock:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_a_log_file_gets_a_few_lines_with_rate_and_time_left(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = StageProgress("train")
    clock.now += 50  # of starting up, which says nothing about the rate
    for step in range(101):
        progress.update(step, 100)
        clock.now += 0.4
    progress.close()
    write_line("done")

    written = capsys.readouterr()
    assert written.out.splitlines() == [
        "  train: 25 of 100, 2.5 a second, 00:30 left",
        "  train: 50 of 100, 2.5 a second, 00:20 left",
        "  train: 75 of 100, 2.5 a second, 00:10 left",
        "  train: 100 of 100, 2.5 a second, 00:00 left",
        "done",
    ]
    assert written.err == ""


def test_what_was_done_before_an_interruption_does_not_count_for_the_rate(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = StageProgress("train")
    progress.update(600, 1000)
    clock.now += 100
    progress.update(900, 1000)
    progress.close()
    assert capsys.readouterr().out.splitlines() == [
        "  train: 600 of 1,000",
        "  train: 900 of 1,000, 3 a second, 00:33 left",
    ]


def test_another_kind_of_steps_begins_anew(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = StageProgress("report")
    for total in (4000, 20):
        progress.update(0, total)
        clock.now += 10
        progress.update(total, total)
    progress.close()
    assert capsys.readouterr().out.splitlines() == [
        "  report: 4,000 of 4,000, 400 a second, 00:00 left",
        "  report: 20 of 20, 2 a second, 00:00 left",
    ]


def test_a_stage_that_says_nothing_shows_its_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "SECONDS_OF_SILENCE", 0.05)
    progress = StageProgress("subwords")
    shown = ""
    until = time.monotonic() + 30
    while not shown and time.monotonic() < until:
        time.sleep(0.02)
        shown += capsys.readouterr().out
    progress.close()
    assert shown.splitlines()[0] == "  subwords: at work for 00:00"


def test_a_terminal_sees_the_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS_OF_A_BAR", 0.05)
    terminal = Terminal()
    progress = StageProgress("subwords", terminal)
    until = time.monotonic() + 30
    while terminal.getvalue().count("at work for 00:0") < 3 and time.monotonic() < until:
        time.sleep(0.02)
    progress.close()
    assert terminal.getvalue().count("  subwords: at work for 00:0") >= 3
