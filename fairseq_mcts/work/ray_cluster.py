"""Work on a Ray cluster: actors that load once and take tasks; nodes may come and go.

Needs the extra `ray`. Data and checkpoints must lie under the same paths on all nodes; what is made
comes back to the command, which writes it.
"""

import logging
import math
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic

from fairseq_mcts.work.engine import Advance, Maker, Result, Task, Work, Workers
from fairseq_mcts.work.errors import WorkError
from fairseq_mcts.work.failure import Failure
from fairseq_mcts.work.pool import Given, Pool

_SECONDS_BETWEEN_LOOKS = 2.0  # at the nodes: new ones get actors
_SECONDS_BETWEEN_ATTEMPTS = 60.0  # the same, after starts that were lost again and again
_SECONDS_BETWEEN_COMPLAINTS = 30.0
_SECONDS_TO_ANSWER = 20.0


@dataclass(frozen=True)
class RayCluster:
    """As many actors as the cluster has room for, each with a GPU or with some CPUs."""

    address: str | None = None  # None: a cluster of this machine alone, started here, whatever runs
    workers: int | None = None  # at most so many
    cpus: int = 1  # of each actor
    gpus: bool = False  # whether actors take a GPU each, if the cluster has any

    @contextmanager
    def start(self, work: Work[Task, Result]) -> Iterator[Workers[Task, Result]]:
        """See `engine.Engine`."""
        ray = _import_ray()
        _refuse_silent(self.address)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # without "local" Ray looks for a running cluster first
        address = self.address or "local"
        try:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            given = "--engine ray" if self.address is None else f"--ray-address {self.address}"
            raise WorkError(f"{given}: {error}") from error
        crew = _Crew(ray, self, work)
        try:
            crew.await_first()
            yield crew
        finally:
            crew.end()
            ray.shutdown()


def _refuse_silent(address: str | None) -> None:
    """Refuses a cluster where nobody answers: Ray itself would go on trying for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if not colon or "/" in host or not port.isdecimal():
        return  # auto, or a ray:// address
    try:
        socket.create_connection((host, int(port)), timeout=_SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise WorkError(f"--ray-address {address}: nobody answers there ({error})") from error


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"--engine ray: {error}; pip install 'fairseq_mcts[ray]'") from error
    return ray


class RayWorker:
    """What an actor does."""

    def __init__(self, work: Work[Any, Any], folder: str) -> None:
        self._work = work
        self._folder = folder  # of the command: paths may be relative to it
        self._maker: Maker[Any, Any] | None = None

    def open(self) -> Failure | None:
        """Loads everything."""
        try:
            os.chdir(self._folder)
            self._maker = self._work.open()
        except Exception as error:
            failure = Failure.of(error)
            return failure._replace(message=f"{socket.gethostname()}: {failure.message}")
        return None

    def make(self, task: Any) -> tuple[Any, int] | Failure:
        """What becomes of a task, and by how many rows the work has advanced."""
        assert self._maker is not None
        advanced: list[int] = []
        try:
            return self._maker.make(task, advanced.append), sum(advanced)
        except Exception as error:
            return Failure.of(error)


@dataclass
class _Actor(Generic[Task]):
    handle: Any
    lost_before: int  # starts, when this one was started
    given: Given[Task] | None = None


class _Crew(Pool[Task, Result]):
    """The actors of one command."""

    most_losses = 5

    def __init__(self, ray: Any, engine: RayCluster, work: Work[Task, Result]) -> None:
        super().__init__()
        self._ray = ray
        self._engine = engine
        self._work = work
        self._actors: dict[Any, _Actor[Task]] = {}  # by the answer that is awaited
        self._free: list[_Actor[Task]] = []
        self._looked = self._complained = -math.inf
        self._room = 0  # for so many actors, when last looked
        self._with_gpu = engine.gpus and ray.cluster_resources().get("GPU", 0) > 0
        self._actor_class = ray.remote(RayWorker).options(
            num_cpus=engine.cpus,
            num_gpus=1 if self._with_gpu else 0,
            scheduling_strategy="SPREAD",
        )

    def end(self) -> None:
        """Ends all actors, whatever they are doing."""
        for actor in (*self._actors.values(), *self._free):
            self._ray.kill(actor.handle)

    def _num_free(self) -> int:
        return len(self._free)

    def _send(self, given: Given[Task]) -> None:
        actor = self._free.pop()
        actor.given = given
        self._actors[actor.handle.make.remote(given.task)] = actor

    def _hire(self) -> None:
        """Starts actors on nodes that have room for more, now and then."""
        pause = _SECONDS_BETWEEN_ATTEMPTS if self._starts_fail() else _SECONDS_BETWEEN_LOOKS
        if time.monotonic() - self._looked < pause:
            return
        self._looked = time.monotonic()
        room = 0
        for node in self._ray.nodes():
            if node["Alive"]:
                fits = int(node["Resources"].get("CPU", 0)) // self._engine.cpus
                gpus = int(node["Resources"].get("GPU", 0))
                room += min(fits, gpus) if self._with_gpu else fits
        if self._engine.workers is not None:
            room = min(room, self._engine.workers)
        self._room = room
        for _ in range(room - len(self._actors) - len(self._free)):
            handle = self._actor_class.remote(self._work, os.getcwd())
            self._actors[handle.open.remote()] = _Actor(handle, self._lost_starts)

    def _listen(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        self._hire()
        if not self._actors:
            self._await_nodes()
            return []
        # one by one: what is not fetched yet stays with the cluster, and its actor waits
        ready, _ = self._ray.wait(list(self._actors), timeout=_SECONDS_BETWEEN_LOOKS)
        finished = []
        for reference in ready:
            actor = self._actors.pop(reference)
            given, actor.given = actor.given, None
            try:
                answer = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                how = str(error).strip().splitlines()[0]
                if given is None:
                    self._start_is_lost(actor.lost_before, how)
                else:
                    self._worker_is_lost(given, how)
                continue
            if isinstance(answer, Failure):
                raise answer.error()
            self._free.append(actor)
            if given is None:
                self._worker_is_ready()
            else:
                made, advanced = answer
                advance(advanced)
                finished.append((given.task, made))
        return finished

    def _await_nodes(self) -> None:
        if not self._room:
            cpus = f"--cpus-per-worker {self._engine.cpus}"
            needed = "so many CPUs and a GPU" if self._with_gpu else "so many CPUs"
            if self._engine.address is None:  # no other will join
                raise WorkError(f"{cpus}: this machine does not have {needed}")
            if time.monotonic() - self._complained > _SECONDS_BETWEEN_COMPLAINTS:
                self._complained = time.monotonic()
                print(f"{cpus}: no node has {needed}; waiting for one", file=sys.stderr)
        time.sleep(_SECONDS_BETWEEN_LOOKS)
