"""Runs stages once: finished ones are skipped, interrupted ones go on, changed or deleted ones
restart.

Stages that do not read each other's results may run at the same time.

A stage is one command with one folder for what it makes. Beside the folders lies a record of each
stage: a fingerprint of its command and of the commands whose results it reads, whether it finished
and how long that took.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.common.progress import StageProgress, write_line


class StageFailed(Exception):
    """A stage's command did not succeed."""


def run_program(program: str, work: Callable[[], None]) -> int:
    """Do the work of a program and return its exit code; a failure is told in one line."""
    try:
        work()
    except (StageFailed, OSError) as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{program}: stopped; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


@dataclass(frozen=True)
class Stage:
    """One command of an example."""

    name: str
    title: str
    command: tuple[str, ...]
    output: Path
    """Folder that belongs to this stage alone; emptied when the command has changed."""
    progress: str = ""
    """Regular expression over the command's output with a group `done` and, unless `total` is
    given, a group `total`. Without `done`, each line that it matches is one step more."""
    total: int = 0
    """How many steps there are."""
    processes: int = 1
    """That it keeps busy; it waits until there is room for all of them."""
    reads: "tuple[Stage, ...] | None" = None
    """Stages whose results the command reads: the stage starts anew if one of them does. None
    stands for all stages before it in the run."""


def read_record(path: Path) -> dict[str, Any]:
    """Read the `fingerprint`, `finished` and `seconds` of a stage; empty if it was never begun."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


class Runner:
    """Runs stages in order and remembers in `work` what is finished."""

    def __init__(self, work: Path, at_once: int = 1) -> None:
        """Keep records in `work`; stages run side by side with up to `at_once` processes."""
        self._records = work / "stages"
        self._records.mkdir(parents=True, exist_ok=True)
        self._at_once = at_once
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, stages: Sequence[Stage]) -> None:
        """Run what is not finished; the first failure ends the run, and what runs beside it."""
        waiting = dict(enumerate(stages))
        fingerprints = _fingerprints(stages)
        inputs = {number: _inputs(stages, number) for number in waiting}
        running: dict[Future[None], int] = {}
        with ThreadPoolExecutor(self._at_once) as pool:
            try:
                while waiting or running:
                    unfinished = {*waiting, *running.values()}
                    for number in [one for one in waiting if not inputs[one] & unfinished]:
                        busy = sum(stages[other].processes for other in running.values())
                        if running and busy + stages[number].processes > self._at_once:
                            break  # those behind it would take its place again and again
                        stage = waiting.pop(number)
                        write_line(f"[{number + 1}/{len(stages)}] {stage.title}")
                        work = pool.submit(self._run_one, stage, fingerprints[number])
                        running[work] = number
                    for work in wait(running, return_when=FIRST_COMPLETED).done:
                        del running[work]
                        work.result()
            except BaseException:
                self._stop()
                raise

    def _stop(self) -> None:
        self._stopped = True
        for process in list(self._processes):
            process.terminate()

    def log(self, stage: Stage) -> Path:
        """Everything that the stage's command printed, before interruptions too."""
        return self._records / f"{stage.name}.log"

    def seconds(self, stage: Stage) -> float | None:
        """How long the stage's last run took to the end; None if it is not finished."""
        return self._read(stage).get("seconds")

    def _run_one(self, stage: Stage, fingerprint: str) -> None:
        if self._stopped:
            return
        before, finished = self._record(stage)
        if finished and before == fingerprint and stage.output.exists():
            write_line(f"  {stage.name}: already done")
            return
        if finished or before != fingerprint:
            # Deleted since, made by another command, or by the same one from other inputs.
            shutil.rmtree(stage.output, ignore_errors=True)
            self.log(stage).unlink(missing_ok=True)
        stage.output.mkdir(parents=True, exist_ok=True)
        self._write_record(stage, fingerprint=fingerprint, finished=False)
        write_line(f"  $ {shlex.join(stage.command)}")
        seconds = round(self._execute(stage), 1)
        self._write_record(stage, fingerprint=fingerprint, finished=True, seconds=seconds)

    def _execute(self, stage: Stage) -> float:
        """Run the stage's command and return the seconds it took."""
        log, start = self.log(stage), time.monotonic()
        with (
            closing(StageProgress(stage.name)) as progress,
            log.open("a", encoding="utf-8", buffering=1) as out,
            subprocess.Popen(
                stage.command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environment(),
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            self._processes.add(process)
            if self._stopped:  # between the start of the thread and that of the command
                process.terminate()
            assert process.stdout is not None
            for text in process.stdout:
                out.write(text)
                _show(progress, stage, text)
        self._processes.discard(process)
        seconds = time.monotonic() - start
        outcome = "done" if not process.returncode else "stopped" if self._stopped else "failed"
        write_line(f"  {stage.name} {outcome} ({seconds:.0f} s)")
        if outcome == "failed":
            tail = log.read_text(encoding="utf-8").splitlines()[-15:]
            write_line("\n".join(tail), sys.stderr)
        if process.returncode:
            raise StageFailed(f"{stage.name}: exit code {process.returncode}, see {log}")
        return seconds

    def _record(self, stage: Stage) -> tuple[str, bool]:
        record = self._read(stage)
        return record.get("fingerprint", ""), record.get("finished", False)

    def _read(self, stage: Stage) -> dict[str, Any]:
        return read_record(self._record_path(stage))

    def _write_record(self, stage: Stage, **record: Any) -> None:
        self._record_path(stage).write_text(json.dumps(record), encoding="utf-8")

    def _record_path(self, stage: Stage) -> Path:
        return self._records / f"{stage.name}.json"


def _environment() -> dict[str, str]:
    """Commands are those of the Python that runs this, whether its environment is active or not."""
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])}


def _inputs(stages: Sequence[Stage], number: int) -> set[int]:
    """Numbers of the stages that must be finished before this one starts."""
    reads = stages[number].reads
    if reads is None:
        return set(range(number))
    return {other for other in range(number) if stages[other] in reads}


def _fingerprints(stages: Sequence[Stage]) -> list[str]:
    """Hashes of each stage's command and of all commands that its inputs come from."""
    before = ""
    fingerprints = []
    for stage in stages:
        before = _fingerprint(before, stage)
        fingerprints.append(before)
    return fingerprints


def _fingerprint(before: str, stage: Stage) -> str:
    inputs: str | list[str] = before
    if stage.reads is not None:
        inputs = [_fingerprint("", read) for read in stage.reads]
    return hashlib.sha256(json.dumps([inputs, stage.command]).encode()).hexdigest()


def _show(progress: StageProgress, stage: Stage, text: str) -> None:
    """Show how far a stage is if a line of its output says so."""
    found = re.search(stage.progress, text) if stage.progress else None
    if found is None:
        return
    total = stage.total or _whole_number(found["total"])
    if "done" in found.groupdict():
        progress.update(_whole_number(found["done"]), total)
    else:
        progress.step(total)


def _whole_number(text: str) -> int:
    return int(text.replace(",", ""))
