"""What is to be done (`Work`), and where it is done (`Engine`); neither knows the other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

#: is told how many further rows are done; less than 0 if a worker was lost on the way
Advance = Callable[[int], object]

Task = TypeVar("Task")
Task_contra = TypeVar("Task_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")


class Maker(Protocol[Task_contra, Result_co]):
    """A worker at work: networks and metric are loaded."""

    def make(self, task: Task_contra, advance: Advance) -> Result_co:
        """What becomes of a task: the same in every worker and in any order."""
        ...


class Work(Protocol[Task_contra, Result_co]):
    """Is pickled and sent to workers, so it holds options and paths, no networks."""

    def open(self) -> Maker[Task_contra, Result_co]:
        """Loads everything, once in a worker; refuses what can't be done."""
        ...


class Workers(Protocol[Task, Result_co]):
    """Workers that wait for tasks; those that are lost are replaced, and their tasks done again."""

    def idle(self) -> int:
        """How many wait for a task."""
        ...

    def is_busy(self) -> bool:
        """Whether a task was given whose result has not been received."""
        ...

    def give(self, task: Task) -> None:
        """Has a task done, which is pickled; it waits if nobody is idle."""
        ...

    def receive(self, advance: Advance) -> Sequence[tuple[Task, Result_co]]:
        """Tasks that are done now; waits for one, but returns now and then without."""
        ...


class Engine(Protocol):
    """A place where work is done."""

    def start(self, work: Work[Task, Result]) -> AbstractContextManager[Workers[Task, Result]]:
        """Workers, the first of which has opened the work: it raises what `open` refuses."""
        ...


def make_all(
    workers: Workers[Task, Result], tasks: Sequence[Task], advance: Advance
) -> Iterator[tuple[Task, Result]]:
    """Has all tasks done, and gives each with its result as it is finished.

    Workers hold no more than a task or two each: whoever reads slowly makes them wait.
    """
    waiting = iter(tasks)
    left = len(tasks)
    finished: Sequence[tuple[Task, Result]] = ()
    while True:
        for _ in range(min(workers.idle(), left)):
            workers.give(next(waiting))
            left -= 1
        yield from finished  # workers go on meanwhile
        if not left and not workers.is_busy():
            return
        finished = workers.receive(advance)
