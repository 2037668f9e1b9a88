"""The progress of stages on terminals and in log files."""

import io
import re
import time

import pytest

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


def test_a_log_file_gets_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress = StageProgress("train")
    for step in range(101):
        progress.update(step, 100)
    progress.close()
    write_line("done")

    written = capsys.readouterr()
    assert written.out.splitlines() == [
        *(f"  train: {n} of 100" for n in (25, 50, 75, 100)),
        "done",
    ]
    assert written.err == ""
