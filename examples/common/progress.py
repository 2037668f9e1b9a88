"""How far stages are: one line of bars on a terminal, a few lines each in a log file."""

import sys
import threading
import time
from typing import TextIO

BAR_WIDTH = 24
LINES_PER_STAGE = 4  # where output is not a terminal, e.g. in CI
CLEAR_LINE = "\r\033[K"


class ProgressBoard:
    """Writes for several stages, which may run in threads of their own."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._redraws = self._stream.isatty()
        self._lock = threading.Lock()
        self._bars: dict[str, str] = {}  # by title, in the order of their beginning

    def say(self, text: str) -> None:
        """Print whole lines; on a terminal the bars stay below them."""
        with self._lock:
            self._print(text)

    def begin(self, title: str) -> "ProgressLine":
        """A bar for one more stage."""
        return ProgressLine(title, self)

    def show(self, title: str, bar: str, *, milestone: bool) -> None:
        """Show a stage's bar anew; a log file gets it at milestones only."""
        with self._lock:
            self._bars[title] = bar
            if self._redraws:
                self._stream.write(CLEAR_LINE + self._bar_line())
                self._stream.flush()
            elif milestone:
                self._print(f"  {bar}")

    def end(self, title: str, outcome: str) -> None:
        """Replace a stage's bar by its outcome."""
        with self._lock:
            self._bars.pop(title, None)
            self._print(f"  {outcome}")

    def _print(self, text: str) -> None:
        if self._redraws:
            text = f"{CLEAR_LINE}{text}\n{self._bar_line()}"
            self._stream.write(text)
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def _bar_line(self) -> str:
        return "  " + " │ ".join(self._bars.values()) if self._bars else ""


class ProgressLine:
    """One stage's part of a board: title, bar, seconds and a note."""

    def __init__(self, title: str, board: ProgressBoard) -> None:
        self._title = title
        self._board = board
        self._start = time.monotonic()
        self._next_milestone = 1 / LINES_PER_STAGE

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def update(self, fraction: float, note: str = "") -> None:
        """Show that `fraction` of the stage is done."""
        filled = round(BAR_WIDTH * min(fraction, 1.0))
        bar = "█" * filled + "░" * (BAR_WIDTH - filled)
        milestone = fraction >= self._next_milestone
        if milestone:
            self._next_milestone = fraction + 1 / LINES_PER_STAGE
        text = f"{self._title} {bar} {self.seconds:4.0f} s  {note}"
        self._board.show(self._title, text, milestone=milestone)

    def finish(self, outcome: str) -> None:
        """Replace the bar by the outcome."""
        self._board.end(self._title, f"{self._title} {outcome} ({self.seconds:.0f} s)")
