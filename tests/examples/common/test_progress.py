"""The progress line on terminals and in log files."""

import io

from examples.common.progress import ProgressBoard


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_that_redraws_itself() -> None:
    terminal = Terminal()
    line = ProgressBoard(terminal).begin("train")
    for step in range(101):
        line.update(step / 100, f"{step} of 100")
    line.finish("done")

    shown = terminal.getvalue()
    assert shown.count("\n") == 1
    assert shown.count("\r\033[K") == 102
    assert "  train ████████████░░░░░░░░░░░░    0 s  50 of 100\r" in shown
    assert shown.endswith("  train done (0 s)\n")


def test_stages_that_run_together_share_the_line() -> None:
    terminal = Terminal()
    board = ProgressBoard(terminal)
    one, other = board.begin("train"), board.begin("encoder")
    one.update(0.5, "5 of 10")
    other.update(0.25, "1 of 4")
    board.say("[3/9] something else")
    one.finish("done")

    drawn = terminal.getvalue().split("\r\033[K")
    assert drawn[2].startswith("  train ████████████░")
    assert " │ encoder ██████░" in drawn[2]
    assert drawn[3] == f"[3/9] something else\n{drawn[2]}"
    assert drawn[4].startswith("  train done (0 s)\n  encoder ██████░")


def test_a_log_file_gets_a_few_lines() -> None:
    log = io.StringIO()
    line = ProgressBoard(log).begin("train")
    for step in range(101):
        line.update(step / 100, f"{step} of 100")

    shown = log.getvalue().splitlines()
    assert [text.split("  ")[-1] for text in shown] == [f"{n} of 100" for n in (25, 50, 75, 100)]
