"""The lines that a run shows, at given times."""

import io

import pytest

from fairseq_mcts.relabelling.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress("train", 1000, done=400, stream=stream, clock=clock)
    for _ in range(30):
        clock.now += 1
        progress.advance(10)
    clock.now += 30
    progress.advance(300)
    progress.close()
    assert stream.getvalue().splitlines() == [
        # rows that were finished before do not count for the rate
        "train: 550/1,000 rows (55.0%), 10.0 rows/s, 45 s left",
        "train: 700/1,000 rows (70.0%), 10.0 rows/s, 30 s left",
        "train: 1,000/1,000 rows (100.0%), 10.0 rows/s, took 1 min 0 s",
        "train: 1,000/1,000 rows (100.0%), 10.0 rows/s, took 1 min 0 s",
    ]


def test_a_terminal_line_is_overwritten() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress("valid", 20_000, stream=stream, clock=clock)
    clock.now += 10
    progress.advance(10)
    progress.advance(1)  # too soon to be shown
    clock.now += 10
    progress.advance(19_989)
    progress.close()
    first, second, last = stream.getvalue().lstrip("\r").split("\r")
    assert first == "valid: 10/20,000 rows (0.1%), 1.0 rows/s, 5 h 33 min left"
    assert len(second) >= len(first)  # blanks cover what was there
    assert second.rstrip() == "valid: 20,000/20,000 rows (100.0%), 1000.0 rows/s, took 20 s"
    assert last.endswith("\n")


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3725, "1 h 2 min"), (187_200, "2 d 4 h")],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
