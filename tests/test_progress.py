"""What a run shows, at given times."""

import io

import pytest

from fairseq_mcts.progress import progress_bar, showing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that tqdm sees."""
    clock = Clock()
    monkeypatch.setattr("tqdm.std.time", clock)
    return clock


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(clock: Clock) -> None:
    stream = io.StringIO()
    with progress_bar("train", 1000, done=400, stream=stream) as progress:
        for _ in range(30):
            clock.now += 1
            progress.update(10)
        clock.now += 30
        progress.update(300)
    assert stream.getvalue().splitlines() == [
        "train: 400/1,000 rows (40.0%) [00:00<?, ? rows/s]",
        # rows that were finished before do not count for the rate
        "train: 550/1,000 rows (55.0%) [00:15<00:45, 10.00 rows/s]",
        "train: 700/1,000 rows (70.0%) [00:30<00:30, 10.00 rows/s]",
        "train: 1,000/1,000 rows (100.0%) [01:00<00:00, 10.00 rows/s]",
        "train: 1,000/1,000 rows (100.0%) [01:00<00:00, 10.00 rows/s]",
    ]


def test_a_terminal_line_is_overwritten(clock: Clock) -> None:
    stream = Terminal()
    with progress_bar("valid", 20_000, done=10_000, stream=stream) as progress:
        clock.now += 10
        progress.update(10)
        progress.update(1)  # too soon to be shown
        clock.now += 10
        progress.update(9_989)
    shown = stream.getvalue()
    assert "\n" not in shown.rstrip("\n")
    states = [state for state in shown.split("\r") if state.strip()]
    assert "10010/20000" in states[1]
    assert "[00:10<2:46:30,  1.00 rows/s]" in states[1]
    assert "20000/20000 [00:20<00:00, 500.00 rows/s]" in states[-1]
    assert states[-1].startswith("valid: 100%|")
    assert states[-1].endswith("\n")


def test_work_of_nothing_is_told_too() -> None:
    stream = io.StringIO()
    with progress_bar("train", 0, stream=stream):
        pass
    assert stream.getvalue().startswith("train: 0/0 rows")


def test_what_is_soon_done_shows_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    def done_in(seconds_each: float) -> str:
        for _ in showing("joining", range(40), "chunks"):
            clock.now += seconds_each
        return capsys.readouterr().err

    assert done_in(0.2) == ""
    lines = done_in(1.0).splitlines()
    assert lines[0].startswith("joining: ") and lines[-1].startswith("joining: 40/40 chunks")


def test_the_items_come_in_their_order() -> None:
    assert list(showing("joining", range(3), "chunks")) == [0, 1, 2]
