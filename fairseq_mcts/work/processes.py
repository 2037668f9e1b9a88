"""Work in several processes of this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Generic

from fairseq_mcts.work import worker_process
from fairseq_mcts.work.engine import Advance, Result, Task, Work, Workers
from fairseq_mcts.work.pool import Given, Pool

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_SECONDS_TO_END = 10
_SECONDS_TO_LISTEN = 30
_PROGRAM = f"from {worker_process.__name__} import main; main()"


@dataclass(frozen=True)
class Processes:
    """So many workers, each with its threads and, where there are GPUs, with one of them."""

    workers: int
    threads: int = 1  # of each
    gpus: Sequence[str] = ()  # as CUDA_VISIBLE_DEVICES names them; workers take turns

    @contextmanager
    def start(self, work: Work[Task, Result]) -> Iterator[Workers[Task, Result]]:
        """See `engine.Engine`."""
        pool = _ProcessPool(self, work)
        try:
            pool.await_first()
            yield pool
        finally:
            pool.end()


@dataclass
class _Worker(Generic[Task]):
    """A process and what it is doing."""

    process: subprocess.Popen[bytes]
    connection: Connection
    lost_before: int  # starts, when this one was started
    is_ready: bool = False
    given: Given[Task] | None = None
    advanced: int = 0  # rows of its task that it has told of

    def ending(self) -> str:
        """How the process ended, in words."""
        code = self.process.wait()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class _ProcessPool(Pool[Task, Result]):
    """The workers of one command."""

    most_losses = 3

    def __init__(self, engine: Processes, work: Work[Task, Result]) -> None:
        super().__init__()
        self._engine = engine
        self._work = work
        # by their places, some of which may have been given up
        self._workers = {place: self._new_worker(place) for place in range(engine.workers)}

    def end(self) -> None:
        """Ends all workers, whatever they are doing."""
        for worker in self._workers.values():
            worker.process.kill()
        for worker in self._workers.values():
            worker.process.wait(_SECONDS_TO_END)
            worker.connection.close()
            if worker.process.stdin is not None:
                worker.process.stdin.close()

    def _num_free(self) -> int:
        return len(self._free())

    def _free(self) -> list[_Worker[Task]]:
        return [one for one in self._workers.values() if one.is_ready and one.given is None]

    def _send(self, given: Given[Task]) -> None:
        worker = self._free()[0]
        worker.given, worker.advanced = given, 0
        with suppress(OSError):  # if it is lost, that is heard next
            worker.connection.send(given.task)

    def _listen(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        finished = []
        places = {worker.connection: place for place, worker in self._workers.items()}
        for connection in wait(list(places), _SECONDS_TO_LISTEN):
            assert isinstance(connection, Connection)
            worker = self._workers[places[connection]]
            try:
                kind, *said = connection.recv()
            except (EOFError, OSError):
                advance(-worker.advanced)
                self._replace(places[connection])
                continue
            if kind == worker_process.READY:
                worker.is_ready = True
                self._worker_is_ready()
            elif kind == worker_process.ADVANCE:
                worker.advanced += said[0]
                advance(said[0])
            elif kind == worker_process.MADE:
                assert worker.given is not None
                finished.append((worker.given.task, said[0]))
                worker.given, worker.advanced = None, 0
            else:
                raise said[0].error()
        return finished

    def _replace(self, place: int) -> None:
        lost = self._workers.pop(place)
        lost.connection.close()
        if lost.process.stdin is not None:
            lost.process.stdin.close()
        if lost.given is not None:
            self._worker_is_lost(lost.given, lost.ending())
        else:
            self._start_is_lost(lost.lost_before, lost.ending())
        if lost.given is not None or not self._starts_fail():
            self._workers[place] = self._new_worker(place)

    def _new_worker(self, place: int) -> _Worker[Task]:
        ours, theirs = Pipe()
        threads = dict.fromkeys(_THREADS, str(self._engine.threads))
        gpus = self._engine.gpus
        gpu = {"CUDA_VISIBLE_DEVICES": gpus[place % len(gpus)]} if gpus else {}
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env={**os.environ, **threads, **gpu, "PYTHONPATH": _search_path()},
        )
        theirs.close()
        worker = _Worker[Task](process, ours, self._lost_starts)
        with suppress(OSError):  # if it is lost already, that is heard next
            ours.send(self._work)
        return worker


def _search_path() -> str:
    """Where this process finds its modules."""
    return os.pathsep.join(folder or os.getcwd() for folder in sys.path)
