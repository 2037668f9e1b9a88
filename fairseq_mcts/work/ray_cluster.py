"""Work on a Ray cluster: actors that load once and take chunks; nodes may come and go.

Needs the extra `ray`. Data and checkpoints must lie under the same paths on all nodes; what is made
comes back to the command, which writes it.
"""

import logging
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fairseq_mcts.work.chunk import Arrays, Chunk
from fairseq_mcts.work.engine import Advance, Made, Maker, Work, Workers
from fairseq_mcts.work.errors import WorkError
from fairseq_mcts.work.failure import Failure

LOSSES = 5  # a chunk that has cost so many actors is given up
_SECONDS_BETWEEN_LOOKS = 2.0  # at the nodes: new ones get actors
_SECONDS_BETWEEN_COMPLAINTS = 30.0
_SECONDS_TO_ANSWER = 20.0


@dataclass(frozen=True)
class RayCluster:
    """As many actors as the cluster has room for, each with a GPU or with some CPUs."""

    address: str | None = None  # None: a cluster of this machine alone, started here
    workers: int | None = None  # at most so many
    cpus: int = 1  # of each actor
    gpus: bool = False  # whether actors take a GPU each, if the cluster has any

    @contextmanager
    def start(self, work: Work) -> Iterator[Workers]:
        """See `engine.Engine`."""
        ray = _import_ray()
        _refuse_silent(self.address)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray.init(address=self.address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise WorkError(f"--ray-address {self.address}: {error}") from error
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

    def __init__(self, work: Work, folder: str) -> None:
        self._work = work
        self._folder = folder  # of the command: paths may be relative to it
        self._maker: Maker | None = None

    def open(self) -> Failure | None:
        """Loads everything."""
        try:
            os.chdir(self._folder)
            self._maker = self._work.open()
        except Exception as error:
            failure = Failure.of(error)
            return failure._replace(message=f"{socket.gethostname()}: {failure.message}")
        return None

    def make(self, chunk: Chunk) -> Arrays | Failure:
        """A chunk."""
        assert self._maker is not None
        try:
            return dict(self._maker.make(chunk, lambda rows: None))
        except Exception as error:
            return Failure.of(error)


@dataclass
class _Actor:
    handle: Any
    chunk: Chunk | None = None
    is_open: bool = False


@dataclass
class _Crew:
    """The actors of one command."""

    ray: Any
    engine: RayCluster
    work: Work
    _actors: dict[Any, _Actor] = field(default_factory=dict)  # by the answer that is awaited
    _idle: list[_Actor] = field(default_factory=list)
    _losses: dict[Chunk | None, int] = field(default_factory=dict)  # None: before it was open
    _looked: float = -_SECONDS_BETWEEN_LOOKS

    def __post_init__(self) -> None:
        self._with_gpu = self.engine.gpus and self.ray.cluster_resources().get("GPU", 0) > 0
        self._actor_class = self.ray.remote(RayWorker).options(
            num_cpus=self.engine.cpus,
            num_gpus=1 if self._with_gpu else 0,
            scheduling_strategy="SPREAD",
        )

    def await_first(self) -> None:
        """Waits until an actor has opened the work."""
        complained = time.monotonic()
        while not self._idle:
            self._hire()
            self._answers()
            if time.monotonic() - complained > _SECONDS_BETWEEN_COMPLAINTS and not self._actors:
                complained = time.monotonic()
                print(
                    f"no node of the cluster has {self.engine.cpus} CPUs; waiting for one",
                    file=sys.stderr,
                )

    def make(self, chunks: Sequence[Chunk], advance: Advance) -> Iterator[Made]:
        """See `engine.Workers`."""
        waiting = deque(chunks)
        left = len(waiting)
        while left:
            self._hire()
            while waiting and self._idle:
                self._hand_out(self._idle.pop(), waiting.popleft())
            for chunk, arrays in self._answers():
                if arrays is None:
                    waiting.appendleft(chunk)
                    continue
                left -= 1
                if waiting and self._idle:  # it need not wait while this one is written
                    self._hand_out(self._idle.pop(), waiting.popleft())
                advance(len(chunk.rows))
                yield Made(chunk, arrays)

    def end(self) -> None:
        """Ends all actors, whatever they are doing."""
        for actor in (*self._actors.values(), *self._idle):
            self.ray.kill(actor.handle)

    def _hand_out(self, actor: _Actor, chunk: Chunk) -> None:
        actor.chunk = chunk
        self._actors[actor.handle.make.remote(chunk)] = actor

    def _hire(self) -> None:
        """Starts actors on nodes that have room for more, now and then."""
        if time.monotonic() - self._looked < _SECONDS_BETWEEN_LOOKS:
            return
        self._looked = time.monotonic()
        room = 0
        for node in self.ray.nodes():
            if node["Alive"]:
                fits = int(node["Resources"].get("CPU", 0)) // self.engine.cpus
                gpus = int(node["Resources"].get("GPU", 0))
                room += min(fits, gpus) if self._with_gpu else fits
        if self.engine.workers is not None:
            room = min(room, self.engine.workers)
        for _ in range(room - len(self._actors) - len(self._idle)):
            handle = self._actor_class.remote(self.work, os.getcwd())
            self._actors[handle.open.remote()] = _Actor(handle)

    def _answers(self) -> list[tuple[Chunk, Arrays | None]]:
        """Chunks that are made now, and (None) those whose actors are lost."""
        if not self._actors:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            return []
        # one by one: what is not fetched yet stays with the cluster, and its actor waits
        ready, _ = self.ray.wait(list(self._actors), timeout=_SECONDS_BETWEEN_LOOKS)
        answers: list[tuple[Chunk, Arrays | None]] = []
        for reference in ready:
            actor = self._actors.pop(reference)
            chunk, actor.chunk = actor.chunk, None
            try:
                answer = self.ray.get(reference)
            except self.ray.exceptions.RayError as error:
                self._lose(chunk, error)
                if chunk is not None:
                    answers.append((chunk, None))
                continue
            if isinstance(answer, Failure):
                raise answer.error()
            self._idle.append(actor)
            if chunk is not None:
                answers.append((chunk, answer))
        return answers

    def _lose(self, chunk: Chunk | None, error: Exception) -> None:
        how = str(error).strip().splitlines()[0]
        losses = self._losses[chunk] = self._losses.get(chunk, 0) + 1
        if losses >= LOSSES:
            doing = "while they started" if chunk is None else f"at chunk {chunk.number}"
            raise WorkError(f"{losses} actors were lost {doing}; the last one: {how}")
        print(f"an actor was lost ({how}); another does its chunk", file=sys.stderr)
