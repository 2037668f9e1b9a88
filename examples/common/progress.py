"""One line per stage that tells how far it is: a bar on a terminal, a few lines in a log file."""

import sys
import time
from typing import TextIO

BAR_WIDTH = 24
LINES_PER_STAGE = 4  # where output is not a terminal, e.g. in CI


class ProgressLine:
    """Shows title, bar, a note and seconds; redraws itself on terminals."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = stream or sys.stdout
        self._redraws = self._stream.isatty()
        self._start = time.monotonic()
        self._next_line_at = 1 / LINES_PER_STAGE

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def update(self, fraction: float, note: str = "") -> None:
        """Show that `fraction` of the stage is done."""
        filled = round(BAR_WIDTH * min(fraction, 1.0))
        bar = "█" * filled + "░" * (BAR_WIDTH - filled)
        line = f"  {self._title} {bar} {self.seconds:4.0f} s  {note}"
        if self._redraws:
            self._stream.write(f"\r\033[K{line}")
            self._stream.flush()
        elif fraction >= self._next_line_at:
            self._next_line_at = fraction + 1 / LINES_PER_STAGE
            print(line, file=self._stream, flush=True)

    def finish(self, outcome: str) -> None:
        """Replace the bar by the outcome."""
        clear = "\r\033[K" if self._redraws else ""
        line = f"{clear}  {self._title} {outcome} ({self.seconds:.0f} s)"
        print(line, file=self._stream, flush=True)
