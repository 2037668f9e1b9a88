"""Progress of long work by tqdm: a bar on a terminal, a line now and then in a log file."""

import sys
from collections.abc import Collection, Iterator
from typing import Any, TextIO, TypeVar

from tqdm import tqdm

Item = TypeVar("Item")

_LOG_SECONDS = 15.0
_SILENT_SECONDS = 10.0  # of what is usually done by then
_LOG_LINE = "{desc}: {n:,}/{total:,}{unit} ({percentage:.1f}%) [{elapsed}<{remaining}, {rate_fmt}]"


def progress_bar(
    title: str,
    total: int,
    *,
    done: int = 0,  # before this run: counts as done, but not for the rate
    unit: str = "rows",
    stream: TextIO | None = None,  # default: stderr
    silent: float = 0.0,  # seconds after which it appears
    leave: bool = True,  # whether a bar on a terminal stays when it is full
) -> Any:
    """A tqdm bar, to be used as a context and told of work by `update`."""
    stream = sys.stderr if stream is None else stream
    shown: dict[str, Any] = {"file": stream, "dynamic_ncols": True, "leave": leave}
    if not stream.isatty():
        shown = {"file": _Lines(stream), "mininterval": _LOG_SECONDS, "miniters": 1}
        shown["bar_format"] = _LOG_LINE
    # smoothing 0: the mean rate of the run, because batches differ in length
    shown["delay"] = silent
    return tqdm(desc=title, total=total, initial=done, unit=f" {unit}", smoothing=0, **shown)


def showing(title: str, items: Collection[Item], unit: str) -> Iterator[Item]:
    """The items, one after the other; a bar appears where that takes long."""
    with progress_bar(title, len(items), unit=unit, silent=_SILENT_SECONDS, leave=False) as bar:
        for item in items:
            yield item
            bar.update()


class _Lines:
    """Gives each state of a bar a line of its own, in place of the last one's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        if text.strip():
            self._stream.write(text.strip() + "\n")

    def flush(self) -> None:
        self._stream.flush()
