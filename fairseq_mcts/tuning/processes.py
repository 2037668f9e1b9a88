"""Settings tried out by several processes of this machine, each with networks of its own.

They are told what to try, and ask after each part of the sentences whether to go on: this process
alone decides, and writes to a study. One that is lost is replaced, and its setting tried again.
"""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

from fairseq_mcts.register import register
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.proposals import Proposal, Proposals
from fairseq_mcts.tuning.workbench import Identity, Workbench

_LOSSES = 3  # a setting that has cost so many processes is given up, and so is a start
_SECONDS_TO_END = 10
_BEAT_SECONDS = 30.0


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    is_ready: bool = False
    proposal: Proposal | None = None


class WorkbenchPool:
    """So many workbenches."""

    def __init__(self, arguments: Sequence[str], workers: int) -> None:
        self._arguments = list(arguments)
        self._context = multiprocessing.get_context("spawn")
        self._losses: Counter[Setting | None] = Counter()  # None: before it was ready
        self._workers = [self._start(place) for place in range(workers)]
        self.identity = Identity("", 0)  # known once it is entered

    def __enter__(self) -> "WorkbenchPool":
        """Waits until the first is ready; raises what it refuses."""
        while not any(worker.is_ready for worker in self._workers):
            self._receive(None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            if kind is None:
                with suppress(OSError):
                    worker.connection.send(None)
                worker.process.join(_SECONDS_TO_END)
            worker.process.kill()
            worker.process.join()

    def work_through(self, proposals: Proposals) -> None:
        """Tries out all that is proposed."""
        while True:
            for worker in self._workers:
                if worker.is_ready and worker.proposal is None:
                    worker.proposal = proposals.next()
                    if worker.proposal is None:
                        break
                    self._hand_out(worker)
            if not any(worker.proposal for worker in self._workers):
                return
            self._receive(proposals)
            proposals.still_there()

    def _start(self, place: int) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, self._arguments, place, os.getpid()), daemon=True
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hand_out(self, worker: _Worker) -> None:
        assert worker.proposal is not None
        with suppress(OSError):  # one that is lost is noticed when it is listened to
            worker.connection.send(worker.proposal.setting)

    def _receive(self, proposals: Proposals | None) -> None:
        """Does what the workers ask for; without proposals there are none that have any."""
        places = {worker.connection: place for place, worker in enumerate(self._workers)}
        for connection in wait(list(places), _BEAT_SECONDS):
            assert isinstance(connection, Connection)
            place = places[connection]
            worker = self._workers[place]
            try:
                message, *given = connection.recv()
            except (EOFError, OSError):
                self._replace(place)
                continue
            if message == "ready":
                worker.is_ready = True
                self._losses.pop(None, None)
                [self.identity] = given
            elif message == "refused":
                [error] = given
                raise error
            else:
                assert proposals is not None and worker.proposal is not None
                if message == "part":
                    goes_on = proposals.goes_on(worker.proposal, *given)
                    with suppress(OSError):
                        connection.send(goes_on)
                else:
                    proposal, worker.proposal = worker.proposal, None
                    proposals.finish(proposal, *given)

    def _replace(self, place: int) -> None:
        lost = self._workers[place]
        # one that was still loading is not lost by its setting
        setting = lost.proposal.setting if lost.is_ready and lost.proposal else None
        self._losses[setting] += 1
        lost.process.join()
        if self._losses[setting] >= _LOSSES:
            at = "at its start" if setting is None else f"with {setting}"
            raise OSError(
                f"a worker was lost {_LOSSES} times {at} (exit code {lost.process.exitcode})"
            )
        self._workers[place] = self._start(place)
        if lost.proposal is not None:
            # before it is ready, it finds this waiting
            self._workers[place].proposal = lost.proposal
            self._hand_out(self._workers[place])


def _serve(connection: Connection, arguments: list[str], place: int, parent: int) -> None:
    """What a process does: tries settings out until there are no more."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends this
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)  # two processes beat two threads
    if torch.cuda.is_available():
        torch.cuda.set_device(place % torch.cuda.device_count())

    def goes_on(part: int, score: float) -> bool:
        connection.send(("part", part, score))
        answer: bool = connection.recv()
        return answer

    def end_with_parent() -> None:
        if os.getppid() != parent:
            os._exit(1)

    with suppress(EOFError, BrokenPipeError):  # whoever asks is gone
        try:
            register()
            bench = Workbench(arguments)
            connection.send(("ready", bench.identity))
            while (setting := connection.recv()) is not None:
                _answer(connection, "outcome", bench.outcome(setting, goes_on, end_with_parent))
        except EOFError:
            raise
        except (ValueError, OSError, ImportError) as error:
            _answer(connection, "refused", type(error)(str(error)))


def _answer(connection: Connection, kind: str, content: Any) -> None:
    connection.send((kind, content))
