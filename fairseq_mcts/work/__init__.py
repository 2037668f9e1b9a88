"""Work that is cut into tasks: done in any order, anywhere, by any number of workers.

Who wants to have something done says what (`Work`). Workers load once and then do tasks, which are
anything that can be pickled; one that is lost is replaced, and its task done again. `Here()` works
in this process, `Processes(N)` in N others, `ray_cluster.RayCluster()` on a Ray cluster:

    class Work:                                    # is pickled: options and paths, no networks
        def open(self) -> Maker: ...               # loads everything, once in a worker
    class Maker:
        def make(self, task, advance): ...         # the result

    with Staff(Processes(8), Work(...)) as staff:
        for task, result in make_all(staff.workers(), tasks, advance): ...

Where the next task depends on results, `workers.idle()`, `give()` and `receive()` are a dialogue.

The tasks of a corpus are chunks, some rows each, whose results are arrays. A finished chunk is one
file, written whole or not at all, and its content depends on nothing but the rows it was made of
and the settings: not on who makes it, nor on what was made before. What is there is never done
again, so the same command goes on after any kill, with the same bytes in the end:

    chunks = cut("train", range(41_000_000), 1000, shard or Shard())
    job = Job("train", ChunkStore(folder), settings, chunks)
    with locked(folder, out, shard), Staff(Processes(8), Work(...)) as staff:
        job.store.begin(settings, origin)          # refuses a store of other settings
        job.make_chunks(staff)
    for chunk in chunks:
        arrays = job.store.read(chunk.number, settings_digest(settings), ("scores",))
"""

from fairseq_mcts.work.chunk import Arrays, Chunk, Shard, cut, num_chunks
from fairseq_mcts.work.engine import Advance, Engine, Maker, Work, Workers, make_all
from fairseq_mcts.work.errors import DamagedChunkError, WorkError
from fairseq_mcts.work.here import Here
from fairseq_mcts.work.job import Job
from fairseq_mcts.work.lock import locked, refuse_held
from fairseq_mcts.work.processes import Processes
from fairseq_mcts.work.settings import Settings, differences, settings_digest
from fairseq_mcts.work.staff import Staff
from fairseq_mcts.work.store import ChunkStore, explained_if_full

__all__ = [
    "Advance",
    "Arrays",
    "Chunk",
    "ChunkStore",
    "DamagedChunkError",
    "Engine",
    "Here",
    "Job",
    "Maker",
    "Processes",
    "Settings",
    "Shard",
    "Staff",
    "Work",
    "WorkError",
    "Workers",
    "cut",
    "differences",
    "explained_if_full",
    "locked",
    "make_all",
    "num_chunks",
    "refuse_held",
    "settings_digest",
]
