"""The progress line on terminals and in log files."""

import io

from examples.common.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_that_redraws_itself() -> None:
    terminal = Terminal()
    line = ProgressLine("train", terminal)
    for step in range(101):
        line.update(step / 100, f"{step} of 100")
    line.finish("done")

    shown = terminal.getvalue()
    assert shown.count("\n") == 1
    assert shown.count("\r\033[K") == 102
    assert "  train ████████████░░░░░░░░░░░░    0 s  50 of 100\r" in shown
    assert shown.endswith("  train done (0 s)\n")


def test_a_log_file_gets_a_few_lines() -> None:
    log = io.StringIO()
    line = ProgressLine("train", log)
    for step in range(101):
        line.update(step / 100, f"{step} of 100")

    shown = log.getvalue().splitlines()
    assert [text.split("  ")[-1] for text in shown] == [f"{n} of 100" for n in (25, 50, 75, 100)]
