"""Work in several processes of this machine."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

from fairseq_mcts.work import worker_process
from fairseq_mcts.work.chunk import Chunk
from fairseq_mcts.work.engine import Advance, Made, Work, Workers
from fairseq_mcts.work.errors import WorkError

LOSSES = 3  # a chunk that has cost so many workers is given up, and so is a start
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_SECONDS_TO_END = 10
_PROGRAM = f"from {worker_process.__name__} import main; main()"


@dataclass(frozen=True)
class Processes:
    """So many workers, each with its threads and, where there are GPUs, with one of them."""

    workers: int
    threads: int = 1  # of each
    gpus: Sequence[str] = ()  # as CUDA_VISIBLE_DEVICES names them; workers take turns

    @contextmanager
    def start(self, work: Work) -> Iterator[Workers]:
        """See `engine.Engine`."""
        pool = _Pool(self, work)
        try:
            pool.await_first()
            yield pool
        finally:
            pool.end()


@dataclass
class _Worker:
    """A process and what it is doing."""

    process: subprocess.Popen[bytes]
    connection: Connection
    is_ready: bool = False
    chunk: Chunk | None = None
    advanced: int = 0  # rows of its chunk that it has told of

    def ending(self) -> str:
        """How the process ended, in words."""
        code = self.process.wait()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@dataclass
class _Pool:
    """The workers of one command."""

    engine: Processes
    work: Work
    _workers: list[_Worker] = field(default_factory=list)
    _losses: dict[Chunk | None, int] = field(default_factory=dict)  # None: before it was ready

    def __post_init__(self) -> None:
        for place in range(self.engine.workers):
            self._workers.append(self._new_worker(place))

    def await_first(self) -> None:
        """Waits until a worker is ready; the others may still load."""
        while not any(worker.is_ready for worker in self._workers):
            for place, message in self._messages():
                self._receive(place, message)

    def make(self, chunks: Sequence[Chunk], advance: Advance) -> Iterator[Made]:
        """See `engine.Workers`."""
        waiting = deque(chunks)
        left = len(waiting)
        while left:
            for worker in self._workers:
                if worker.is_ready and worker.chunk is None and waiting:
                    self._hand_out(worker, waiting.popleft())
            for place, message in self._messages():
                worker = self._workers[place]
                if message is None:
                    advance(-worker.advanced)
                    if worker.chunk is not None:
                        waiting.appendleft(worker.chunk)
                    self._receive(place, None)
                elif message[0] == worker_process.ADVANCE:
                    worker.advanced += message[1]
                    advance(message[1])
                elif message[0] == worker_process.MADE:
                    chunk, worker.chunk = worker.chunk, None
                    assert chunk is not None
                    if waiting:  # it need not wait while this one is written
                        self._hand_out(worker, waiting.popleft())
                    left -= 1
                    yield Made(chunk, message[1])
                else:
                    self._receive(place, message)

    def end(self) -> None:
        """Ends all workers, whatever they are doing."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait(_SECONDS_TO_END)
            worker.connection.close()
            if worker.process.stdin is not None:
                worker.process.stdin.close()

    def _hand_out(self, worker: _Worker, chunk: Chunk) -> None:
        worker.chunk, worker.advanced = chunk, 0
        with suppress(OSError):  # if it is lost, its messages tell that next
            worker.connection.send(chunk)

    def _messages(self) -> Iterator[tuple[int, Any]]:
        """What workers say now, by their places; None from one that is lost."""
        places = {worker.connection: place for place, worker in enumerate(self._workers)}
        for connection in wait(list(places)):
            assert isinstance(connection, Connection)
            try:
                message = connection.recv()
            except (EOFError, OSError):
                message = None
            yield places[connection], message

    def _receive(self, place: int, message: Any) -> None:
        """Takes note of a worker that is ready, has failed, or (None) is lost."""
        worker = self._workers[place]
        if message is None:
            self._replace(place)
        elif message[0] == worker_process.READY:
            worker.is_ready = True
            self._losses.pop(None, None)
        elif message[0] == worker_process.FAILED:
            raise message[1].error()

    def _replace(self, place: int) -> None:
        lost = self._workers[place]
        how = lost.ending()
        losses = self._losses[lost.chunk] = self._losses.get(lost.chunk, 0) + 1
        if losses >= LOSSES:
            doing = "while they started" if lost.chunk is None else f"at {_named(lost.chunk)}"
            raise WorkError(
                f"{losses} workers were lost {doing}, the last one: {how}. Is there too little "
                "memory? What is finished is kept"
            )
        print(f"a worker was lost ({how}); another takes its place", file=sys.stderr)
        lost.connection.close()
        self._workers[place] = self._new_worker(place)

    def _new_worker(self, place: int) -> _Worker:
        ours, theirs = Pipe()
        threads = dict.fromkeys(_THREADS, str(self.engine.threads))
        gpus = self.engine.gpus
        gpu = {"CUDA_VISIBLE_DEVICES": gpus[place % len(gpus)]} if gpus else {}
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env={**os.environ, **threads, **gpu, "PYTHONPATH": _search_path()},
        )
        theirs.close()
        worker = _Worker(process, ours)
        with suppress(OSError):  # if it is lost already, its messages tell that
            ours.send(self.work)
        return worker


def _search_path() -> str:
    """Where this process finds its modules."""
    return os.pathsep.join(folder or os.getcwd() for folder in sys.path)


def _named(chunk: Chunk) -> str:
    return f"rows {chunk.rows.start} to {chunk.rows.stop - 1} of {chunk.part}"
