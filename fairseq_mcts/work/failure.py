"""An error of a worker, as the command that started it is to see it."""

import traceback
from typing import NamedTuple

from fairseq_mcts.work.errors import WorkError


class Failure(NamedTuple):
    """What went wrong in a worker: plain text, because not every exception can be sent."""

    message: str
    is_users: bool  # whether it is bad input, which the message explains
    details: str  # the traceback

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """Describes an exception that is being handled."""
        is_users = isinstance(error, (ValueError, OSError, ImportError, MemoryError))
        message = str(error)
        if isinstance(error, MemoryError):  # which often says nothing
            message = f"memory of a worker is too little: {message or 'an allocation failed'}"
        return cls(message, is_users, traceback.format_exc())

    def error(self) -> Exception:
        """The exception to be raised."""
        if self.is_users:
            return WorkError(self.message)
        return RuntimeError(f"a worker failed:\n{self.details}")
