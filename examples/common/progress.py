"""How far a stage is: a bar on a terminal, a few lines in a log file."""

import sys
from typing import TextIO

from tqdm import tqdm

LINES_PER_STAGE = 4  # where output is not a terminal, e.g. in CI


class StageProgress:
    """Shows the progress of one stage; several may show theirs at once, from threads."""

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self._name = name
        # disable=None: no bar unless the stream is a terminal
        self._bar = tqdm(desc=f"  {name}", file=stream, disable=None, leave=False)
        self._next_line = 1 / LINES_PER_STAGE  # as a fraction of the stage

    def update(self, done: int, total: int) -> None:
        """Show that `done` steps of `total` are done."""
        if not self._bar.disable:
            self._bar.total = total
            self._bar.update(done - self._bar.n)
        elif done >= self._next_line * total:
            self._next_line = done / total + 1 / LINES_PER_STAGE
            write_line(f"  {self._name}: {done:,} of {total:,}")

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Print text above the bars, and at once: the output may be a log file."""
    stream = stream or sys.stdout
    tqdm.write(text, stream)
    stream.flush()
