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
        self._lost_starts = 0

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

    def _worker_is_lost(self, given: Given[Task] | None, how: str) -> None:
        """Has its task done by another; `given` is None before it was ready, or had any."""
        if given is None:
            self._lost_starts += 1
            losses, doing = self._lost_starts, "while they started"
        else:
            given.losses += 1
            losses, doing = given.losses, f"at {given.task}"
            self._waiting.appendleft(given)
        if losses >= self.most_losses:
            raise WorkError(
                f"{losses} workers were lost {doing}, the last one: {how}. Is there too little "
                "memory? What is finished is kept"
            )
        print(f"a worker was lost ({how}); another takes its place", file=sys.stderr)

    @abstractmethod
    def _num_free(self) -> int:
        """Workers that are ready and have no task."""

    @abstractmethod
    def _send(self, given: Given[Task]) -> None:
        """To one that is free."""

    @abstractmethod
    def _listen(self, advance: Advance) -> Sequence[tuple[Task, Result]]:
        """What workers have finished; waits for one, but not for ever."""
