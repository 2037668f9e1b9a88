"""A worker in a process of its own, as `processes.Processes` starts it.

It hears of the command alone, through the socket whose number is its argument. Its standard input
stays silent and ends with the command: so a worker never outlives a command that was killed.
"""

import logging
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from fairseq_mcts.work.engine import Maker
from fairseq_mcts.work.failure import Failure

READY, ADVANCE, MADE, FAILED = "ready", "advance", "made", "failed"  # what a worker says


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
        while True:
            made = maker.make(connection.recv(), lambda rows: connection.send((ADVANCE, rows)))
            connection.send((MADE, made))
    except (EOFError, ConnectionError):
        return  # the command has ended
    except Exception as error:
        connection.send((FAILED, Failure.of(error)))


def _end_with_the_command() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
