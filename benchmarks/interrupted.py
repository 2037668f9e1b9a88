"""Is the output of a command the same if it is killed again and again?

    python benchmarks/interrupted.py --kills 20 --work FOLDER -- COMMAND … --out {out} --workers 2

The command runs once undisturbed and without --workers, then with them into another folder, where
it is killed with SIGKILL at random moments: the whole process group, after which it is started
again, or a single worker, which it has to replace. In the end both folders must hold the same
files. Some kills fall into the start of the command, the others come after a chunk that is new. A
command that gives up, since worker after worker was killed, is given again.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_PATIENCE = 1800  # seconds that a command may take to its next chunk
_LOOK = 0.02
_START_SHARE = 0.2  # of kills come at any moment from the start of the command on
_START_SECONDS = 30.0


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def num_chunks(out: Path) -> int:
    """Chunks that are there now."""
    return len(list(out.rglob("chunk-*.npz")))


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes that a command has started."""
    try:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(one) for one in text.split()]


def without_workers(command: Sequence[str]) -> list[str]:
    """The command for one process."""
    if "--workers" not in command:
        return list(command)
    place = command.index("--workers")
    return [*command[:place], *command[place + 2 :]]


def run(command: Sequence[str], out: Path, log: Path) -> float:
    """Runs a command to its end; its seconds."""
    begun = time.perf_counter()
    with log.open("ab") as stream:
        subprocess.run(
            [part.format(out=out) for part in command], stdout=stream, stderr=stream, check=True
        )
    return time.perf_counter() - begun


def await_moment(
    process: subprocess.Popen[bytes], count: Callable[[], int], within: float, dice: random.Random
) -> bool:
    """Waits for a moment to kill; whether the command is still running then.

    `count` tells how many pieces of the work are finished.
    """
    before, begun = count(), time.monotonic()
    until = begun + dice.uniform(0, _START_SECONDS)
    if dice.random() >= _START_SHARE:
        while count() <= before and process.poll() is None:
            if time.monotonic() > begun + _PATIENCE:
                raise TimeoutError("the command finishes nothing")
            time.sleep(_LOOK)
        until = time.monotonic() + dice.uniform(0, within)
    while time.monotonic() < until and process.poll() is None:
        time.sleep(_LOOK)
    return process.poll() is None


def run_with_kills(
    command: Sequence[str],
    count: Callable[[], int],
    log: Path,
    kills: int,
    within: float,
    dice: random.Random,
) -> dict[str, int]:
    """Runs a command to its end through that many kills; how many of each kind there were."""
    counts = {"groups": 0, "workers": 0, "starts": 0}
    process: subprocess.Popen[bytes] | None = None
    lost = 0  # workers since the command was started
    with log.open("ab") as stream:
        while True:
            if process is None:
                counts["starts"] += 1
                lost = 0
                process = subprocess.Popen(
                    command, stdout=stream, stderr=stream, start_new_session=True
                )
            done = counts["groups"] + counts["workers"]
            if done == kills or not await_moment(process, count, within, dice):
                if process.wait() == 0:
                    return counts
                if not lost:
                    raise RuntimeError(f"the command failed: {log}")
                process = None
                continue
            workers = workers_of(process)
            if workers and dice.random() < 0.5:
                os.kill(dice.choice(workers), signal.SIGKILL)
                counts["workers"] += 1
                lost += 1
            else:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                process = None
                counts["groups"] += 1


def main(arguments: Sequence[str] | None = None) -> bool:
    """Prints what was done; whether the outputs are the same."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--within", type=float, default=3.0, help="seconds after a new chunk that a kill comes in"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True, help="folder for both outputs")
    parser.add_argument("command", nargs="+", help="behind --; {out} is its output folder")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    whole, killed, log = (options.work / name for name in ("whole", "killed", "log.txt"))
    for folder in (whole, killed):
        shutil.rmtree(folder, ignore_errors=True)
    seconds = run(without_workers(options.command), whole, log)
    begun = time.perf_counter()
    counts = run_with_kills(
        [part.format(out=killed) for part in options.command],
        lambda: num_chunks(killed),
        log,
        options.kills,
        options.within,
        random.Random(options.seed),
    )
    is_same = content(whole) == content(killed) != {}
    print(
        f"{counts['groups']} process groups and {counts['workers']} single workers killed, "
        f"{counts['starts']} starts; undisturbed {seconds:.0f} s, with kills "
        f"{time.perf_counter() - begun:.0f} s; the output is "
        f"{'the same' if is_same else 'NOT THE SAME'}: {', '.join(sorted(content(whole)))}"
    )
    return is_same


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
