"""Workers that are started when they are first needed, for however many jobs."""

from contextlib import ExitStack
from types import TracebackType
from typing import Generic

from fairseq_mcts.work.engine import Engine, Result, Task, Work, Workers


class Staff(Generic[Task, Result]):
    """Where nothing is left to be done, nothing is loaded."""

    def __init__(self, engine: Engine, work: Work[Task, Result]) -> None:
        self._engine = engine
        self._work = work
        self._stack = ExitStack()
        self._workers: Workers[Task, Result] | None = None

    def workers(self) -> Workers[Task, Result]:
        """The workers; the first call starts them and raises what they refuse."""
        if self._workers is None:
            self._workers = self._stack.enter_context(self._engine.start(self._work))
        return self._workers

    def __enter__(self) -> "Staff[Task, Result]":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)
