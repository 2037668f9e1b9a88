"""What all workers outside this process have in common: who does what, and what if one is lost."""

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from fairseq_mcts.work.engine import Advance, Result, Task
from fairseq_mcts.work.errors import WorkError


@dataclass
class Given(Generic[Task]):
    """A task that somebody has to do."""

    task: Task
    losses: int = 0  # of workers that were at it


class Pool(ABC, Generic[Task, Result]):
    """See `engine.Workers`; how workers are started and heard of is up to subclasses."""

    most_losses: int  # a task that has cost so many workers is given up, and so is a start

    def __init__(self) -> None:
        self._waiting: deque[Given[Task]] = deque()
        self._num_given = 0
        self._lost_starts = 0  # one after the other, since a worker was ready

    def idle(self) -> int:
        """How many wait for a task."""
        return max(self._num_free() - len(self._waiting), 0)

    def is_busy(self) -> bool:
        """Whether a task was given whose result has not been received."""
        return self._num_given > 0

    def give(self, task: Task) -> None:
        """Has a task done."""
        self._num_given += 1
        self._waiting.append(Given(task))
        self._hand_out()

    def receive(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        """Tasks that are done now."""
        self._hand_out()  # what lost workers have left
        finished = self._listen(advance)
        self._num_given -= len(finished)
        return finished

    def await_first(self) -> None:
        """Waits until a worker is ready; the others may still load."""
        while not self._num_free():
            self._listen(lambda rows: None)

    def _hand_out(self) -> None:
        while self._waiting and self._num_free():
            self._send(self._waiting.popleft())

    def _worker_is_ready(self) -> None:
        self._lost_starts = 0

    def _worker_is_lost(self, given: Given[Task], how: str) -> None:
        """Has its task done by another."""
        given.losses += 1
        self._waiting.appendleft(given)
        if given.losses >= self.most_losses:
            raise _too_many(given.losses, f"at {given.task}", how)
        print(f"a worker was lost ({how}); another takes its place", file=sys.stderr)

    def _start_is_lost(self, lost_before: int, how: str) -> None:
        """Of a worker without a task; `lost_before` is `_lost_starts` when it was started.

        All that start together, on a machine that is lost, say, count as one: only who starts after
        a loss can show that it happens again.
        """
        self._lost_starts = max(self._lost_starts, lost_before + 1)
        if self._starts_fail() and not self._anybody_works():
            raise _too_many(self._lost_starts, "one after the other while they started", how)
        instead = "others go on" if self._starts_fail() else "another takes its place"
        print(f"a worker was lost while it started ({how}); {instead}", file=sys.stderr)

    def _starts_fail(self) -> bool:
        """Whether so many were lost that there is little hope for another one."""
        return self._lost_starts >= self.most_losses

    def _anybody_works(self) -> bool:
        return self._num_free() > 0 or self._num_given > len(self._waiting)

    @abstractmethod
    def _num_free(self) -> int:
        """Workers that are ready and have no task."""

    @abstractmethod
    def _send(self, given: Given[Task]) -> None:
        """To one that is free."""

    @abstractmethod
    def _listen(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        """What workers have finished; waits for one, but not for ever."""


def _too_many(losses: int, doing: str, how: str) -> WorkError:
    return WorkError(
        f"{losses} workers were lost {doing}, the last one: {how}. Is there too little memory? "
        "What is finished is kept"
    )
