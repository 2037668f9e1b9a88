"""Commands in forked processes: real ones, which can be killed, but without importing again."""

import logging
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int  # as in subprocess: negative is the signal that ended it
    out: str
    err: str


def start(command: Callable[[], object], folder: Path, arguments: Sequence[str], name: str) -> int:
    """Runs a console script's function in `folder`; the number of its process."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.chdir(folder)
        for number, stream in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{name}.{stream}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        os.environ["HF_HUB_OFFLINE"] = "1"
        torch.set_num_threads(1)  # threads of the parent do not exist here
        sys.argv = ["command", *arguments]
        command()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):  # no room for what it says
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(process: int, folder: Path, name: str) -> Ended:
    _, status = os.waitpid(process, 0)
    out, err = ((folder / f"{name}.{stream}").read_text() for stream in ("out", "err"))
    return Ended(os.waitstatus_to_exitcode(status), out, err)


def with_little_room(command: Callable[[], object], size: int) -> None:
    """Runs it where no file can become larger, as under a quota."""
    logging.disable()  # a log of pytest's may be larger already
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    command()


def run(
    command: Callable[[], object],
    folder: Path,
    arguments: Sequence[str],
    *,
    kill_when: Callable[[], bool] | None = None,
) -> Ended:
    """Runs it to its end, or kills it once `kill_when` is true."""
    name = f"process-{time.monotonic_ns()}"
    (folder / f"{name}.out").touch()
    (folder / f"{name}.err").touch()
    process = start(command, folder, arguments, name)
    if kill_when is not None:
        while not kill_when():
            if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break  # it ended by itself; the caller sees by its code that it was not killed
            time.sleep(0.005)
        os.kill(process, signal.SIGKILL)
    return wait(process, folder, name)
