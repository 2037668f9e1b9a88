"""Work that needs no networks: squares of numbers, and workers that come to grief on the way."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.work import (
    Advance,
    Arrays,
    Chunk,
    ChunkStore,
    Job,
    Settings,
    Shard,
    cut,
    worker_process,
)

NAMES = ("squares",)


@dataclass(frozen=True)
class Squares:
    """Squares the numbers of a chunk's rows."""

    seconds: float = 0.0  # that a chunk takes
    deadly: tuple[int, ...] = ()  # chunks whose worker is killed
    once_in: Path | None = None  # where a worker leaves a note that it was killed: not again then
    refused: bool = False  # whether opening refuses something
    faulty: bool = False  # whether the program has a fault
    first_in: Path | None = None  # where workers leave notes: all but the first die as they open
    deaths: int = 0  # that a chunk waits for, of those others

    def open(self) -> "Squares":
        if self.first_in is not None:
            note = self.first_in / str(os.getpid())
            note.touch()
            if not _is_new(self.first_in / "first"):
                os.kill(os.getpid(), signal.SIGKILL)
            note.unlink()
        if self.refused:
            raise ValueError("--nothing: can't be squared")
        return self

    def make(self, chunk: Chunk, advance: Advance) -> Arrays:
        advance(1)
        if self.faulty:
            raise ZeroDivisionError("a fault")
        time.sleep(self.seconds)
        while self.first_in is not None and len(list(self.first_in.iterdir())) <= self.deaths:
            time.sleep(0.02)
        if chunk.number in self.deadly and self._is_first(chunk):
            time.sleep(2 * worker_process.SECONDS_BETWEEN_ADVANCES)
            advance(0)  # now the command has heard of the first row
            os.kill(os.getpid(), signal.SIGKILL)
        advance(len(chunk.rows) - 1)
        return {"squares": np.array(chunk.rows, np.int64) ** 2}

    def _is_first(self, chunk: Chunk) -> bool:
        if self.once_in is None:
            return True
        note = self.once_in / str(chunk.number)
        was_there = note.exists()
        note.touch()
        return not was_there


def _is_new(note: Path) -> bool:
    try:
        note.open("x").close()
    except FileExistsError:
        return False
    return True


def make_job(folder: Path, rows: int = 23, settings: Settings | None = None, **more: Any) -> Job:
    chunks = cut("toy", range(rows), 4, more.pop("shard", Shard()))
    return Job("toy", ChunkStore(folder), settings or {"power": 2}, chunks, **more)
