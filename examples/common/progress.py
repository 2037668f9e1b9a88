"""How far a stage is: a bar on a terminal, a few lines in a log file."""

import sys
import threading
import time
from typing import TextIO

from tqdm import tqdm

LINES_PER_STAGE = 4  # where output is not a terminal, e.g. in CI
SECONDS_OF_SILENCE = 30.0  # there, of a stage that has not said how far it is
_SECONDS_OF_A_BAR = 1.0
_ELAPSED = "{desc}: at work for {elapsed}"  # where there is nothing to count yet


class StageProgress:
    """Shows the progress of one stage; several may show theirs at once, from threads.

    As long as a stage says nothing, the time that it has taken is shown.
    """

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self._name = name
        # disable=None: no bar unless the stream is a terminal
        self._bar = tqdm(
            desc=f"  {name}", file=stream, disable=None, leave=False, bar_format=_ELAPSED
        )
        self._start = time.monotonic()
        self._first: tuple[float, int] | None = None  # time and steps: the rate counts from here
        self._done = self._total = 0
        self._next_line = 0.0  # as a fraction of the stage
        self._closed = threading.Event()
        self._waiting = threading.Thread(target=self._tell_time, daemon=True)
        self._waiting.start()

    def step(self, total: int) -> None:
        """Show that one more of `total` steps is done."""
        self.update(self._done + 1, total)

    def update(self, done: int, total: int) -> None:
        """Show that `done` steps of `total` are done."""
        if self._first is None or total != self._total:  # else another kind of step has begun
            self._first = (time.monotonic(), done)
            self._next_line = 1 / LINES_PER_STAGE
            self._bar.bar_format = None
        self._done, self._total = done, total
        if not self._bar.disable:
            self._bar.total = total
            self._bar.update(done - self._bar.n)
        elif done >= self._next_line * total:
            self._next_line = done / total + 1 / LINES_PER_STAGE
            write_line(f"  {self._name}: {done:,} of {total:,}{self._rate()}")

    def close(self) -> None:
        """Remove the bar."""
        self._closed.set()
        self._waiting.join()
        self._bar.close()

    def _rate(self) -> str:
        """How fast it is and the time left, since the first steps: starting up says nothing."""
        assert self._first is not None
        seconds, steps = time.monotonic() - self._first[0], self._done - self._first[1]
        if seconds <= 0 or steps <= 0:
            return ""
        left = tqdm.format_interval((self._total - self._done) * seconds / steps)
        return f", {steps / seconds:.3g} a second, {left} left"

    def _tell_time(self) -> None:
        seconds = SECONDS_OF_SILENCE if self._bar.disable else _SECONDS_OF_A_BAR
        while not self._closed.wait(seconds) and self._first is None:
            if not self._bar.disable:
                self._bar.refresh()
                continue
            elapsed = tqdm.format_interval(time.monotonic() - self._start)
            write_line(f"  {self._name}: at work for {elapsed}")


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Print text above the bars, and at once: the output may be a log file."""
    stream = stream or sys.stdout
    tqdm.write(text, stream)
    stream.flush()
