"""How far a run is, how fast, and how long it will take; for terminals and for log files."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

_TERMINAL_SECONDS = 0.2  # between two lines: a terminal overwrites them ...
_LOG_SECONDS = 15.0  # ... a log file keeps them


class Progress:
    """Counts rows; the rate is that of this run, whatever was finished before it."""

    def __init__(
        self,
        title: str,
        total: int,
        done: int = 0,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._total = total
        self._done_before = self._done = done
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._begun = clock()
        self._terminal = self._stream.isatty()
        self._shown = self._begun if not self._terminal else float("-inf")
        self._width = 0

    def advance(self, rows: int) -> None:
        """Counts rows as done, and says so from time to time."""
        self._done += rows
        seconds = _TERMINAL_SECONDS if self._terminal else _LOG_SECONDS
        if self._clock() - self._shown >= seconds:
            self._show()

    def close(self) -> None:
        """Says how it ended."""
        self._show()
        if self._terminal:
            self._stream.write("\n")
            self._stream.flush()

    def line(self) -> str:
        """The present state in words."""
        elapsed = self._clock() - self._begun
        share = self._done / self._total if self._total else 1.0
        text = f"{self._title}: {self._done:,}/{self._total:,} rows ({share:.1%})"
        made = self._done - self._done_before
        if not made or elapsed <= 0:
            return text
        rate = made / elapsed
        left = (self._total - self._done) / rate
        tail = f"{duration(left)} left" if left else f"took {duration(elapsed)}"
        return f"{text}, {rate:.1f} rows/s, {tail}"

    def _show(self) -> None:
        text = self.line()
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
        self._shown = self._clock()


def duration(seconds: float) -> str:
    """A time as people say it: `45 s`, `12 min 5 s`, `3 h 20 min`, `2 d 4 h`."""
    whole = round(seconds)
    for size, name, small_size, small_name in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {name} {whole % size // small_size} {small_name}"
    return f"{whole} s"
