"""The chunks of one corpus that one command has to make."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fairseq_mcts.progress import progress_bar
from fairseq_mcts.work.chunk import Arrays, Chunk
from fairseq_mcts.work.engine import make_all
from fairseq_mcts.work.errors import DamagedChunkError
from fairseq_mcts.work.settings import Settings
from fairseq_mcts.work.staff import Staff
from fairseq_mcts.work.store import ChunkStore

Result = TypeVar("Result")


@dataclass(frozen=True)
class Job:
    """Chunks, and the store that they go to."""

    title: str  # of the progress that is shown
    store: ChunkStore
    settings: Settings
    chunks: Sequence[Chunk]  # all of this command: of its shard
    unit: str = "rows"

    def pending(self) -> list[Chunk]:
        """Those that are still to be made."""
        finished = self.store.finished()
        return [chunk for chunk in self.chunks if chunk.number not in finished]

    def make_chunks(self, staff: Staff[Chunk, Arrays]) -> None:
        """Makes the pending chunks, writes each as it comes, and shows progress of the whole."""
        pending = self.pending()
        if not pending:
            return
        workers = staff.workers()
        total = sum(len(chunk.rows) for chunk in self.chunks)
        done = total - sum(len(chunk.rows) for chunk in pending)
        with progress_bar(self.title, total, done=done, unit=self.unit) as progress:
            for chunk, arrays in make_all(workers, pending, progress.update):
                self.store.write(chunk.number, self.settings, arrays)

    def complete(self, staff: Staff[Chunk, Arrays], join: Callable[[], Result]) -> Result:
        """Makes what is missing and has it joined; damaged chunks are made once more.

        One that is damaged again was made so: it is refused.
        """
        again: set[int] = set()
        while True:
            self.make_chunks(staff)
            try:
                return join()
            except DamagedChunkError as error:
                if error.chunk in again:
                    raise
                again.add(error.chunk)
                print(f"{error}. It is made again now", file=sys.stderr)
                self.store.discard(error.chunk)
