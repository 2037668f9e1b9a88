"""A worker in a process of its own, as `processes.Processes` starts it.

It hears of the command alone, through the socket whose number is its argument. Its standard input
stays silent and ends with the command: so a worker never outlives a command that was killed.
"""

import logging
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from fairseq_mcts.work.engine import Maker
from fairseq_mcts.work.failure import Failure

READY, ADVANCE, MADE, FAILED = "ready", "advance", "made", "failed"  # what a worker says
# The command wakes up to hear each word, on cores that its workers need.
SECONDS_BETWEEN_ADVANCES = 0.25


class Advances:
    """Tells the command how many rows are done, some at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows = 0  # that the command has not heard of
        self._told = time.monotonic()

    def __call__(self, rows: int) -> None:
        """So many more are done."""
        self._rows += rows
        if time.monotonic() - self._told >= SECONDS_BETWEEN_ADVANCES:
            self.tell()

    def tell(self) -> None:
        """Says what has not been said."""
        if self._rows:
            self._connection.send((ADVANCE, self._rows))
        self._rows, self._told = 0, time.monotonic()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the command, which ends workers
    # first of all: some modules of fairseq ask for DEBUG lines, if nobody has asked for less
    logging.basicConfig(level=logging.WARNING)
    connection: Connection = Connection(int(sys.argv[1]))
    threading.Thread(target=_end_with_the_command, daemon=True).start()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # standard output is the command's
    try:
        maker: Maker[Any, Any] = connection.recv().open()
        connection.send((READY,))
        advances = Advances(connection)
        while True:
            made = maker.make(connection.recv(), advances)
            advances.tell()
            connection.send((MADE, made))
    except (EOFError, ConnectionError):
        return  # the command has ended
    except Exception as error:
        connection.send((FAILED, Failure.of(error)))


def _end_with_the_command() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
