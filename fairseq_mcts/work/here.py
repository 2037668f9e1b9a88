"""Work in this very process."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic

from fairseq_mcts.work.engine import Advance, Maker, Result, Task, Work, Workers


@dataclass
class _ThisProcess(Generic[Task, Result]):
    maker: Maker[Task, Result]
    _given: deque[Task] = field(default_factory=deque)

    def idle(self) -> int:
        return 0 if self._given else 1

    def is_busy(self) -> bool:
        return bool(self._given)

    def give(self, task: Task) -> None:
        self._given.append(task)

    def receive(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        task = self._given.popleft()
        return [(task, self.maker.make(task, advance))]


@dataclass(frozen=True)
class Here:
    """One worker: the command itself."""

    @contextmanager
    def start(self, work: Work[Task, Result]) -> Iterator[Workers[Task, Result]]:
        """See `engine.Engine`."""
        yield _ThisProcess(work.open())
