"""Runs stages once: finished ones are skipped, interrupted ones go on, changed ones restart.

A stage is one command with one folder for what it makes. Beside the folders lies a record of each
stage: a fingerprint of its command and of the commands whose results it reads, whether it finished
and how long that took.
"""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.common.progress import ProgressLine


class StageFailed(Exception):
    """A stage's command did not succeed."""


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
    given, a group `total`."""
    total: int = 0
    """How many steps `done` counts up to."""
    reads: "tuple[Stage, ...] | None" = None
    """Stages whose results the command reads: the stage starts anew if one of them does. None
    stands for all stages before it in the run."""


class Runner:
    """Runs stages in order and remembers in `work` what is finished."""

    def __init__(self, work: Path) -> None:
        self._records = work / "stages"
        self._records.mkdir(parents=True, exist_ok=True)

    def run(self, stages: Sequence[Stage]) -> None:
        before = ""
        for number, stage in enumerate(stages, start=1):
            before = fingerprint = _fingerprint(before, stage)
            print(f"[{number}/{len(stages)}] {stage.title}", flush=True)
            if self._record(stage) == (fingerprint, True):
                print("  already done", flush=True)
                continue
            self._run_one(stage, fingerprint)

    def log(self, stage: Stage) -> Path:
        """Everything that the stage's command printed, before interruptions too."""
        return self._records / f"{stage.name}.log"

    def seconds(self, stage: Stage) -> float | None:
        """How long the stage's last run took to the end; None if it is not finished."""
        return self._read(stage).get("seconds")

    def _run_one(self, stage: Stage, fingerprint: str) -> None:
        if self._record(stage)[0] != fingerprint:
            # Made by another command, or by the same one from other inputs.
            shutil.rmtree(stage.output, ignore_errors=True)
            self.log(stage).unlink(missing_ok=True)
        stage.output.mkdir(parents=True, exist_ok=True)
        self._write_record(stage, fingerprint=fingerprint, finished=False)
        print(f"  $ {shlex.join(stage.command)}", flush=True)
        start = time.monotonic()
        self._execute(stage)
        seconds = round(time.monotonic() - start, 1)
        self._write_record(stage, fingerprint=fingerprint, finished=True, seconds=seconds)

    def _execute(self, stage: Stage) -> None:
        line = ProgressLine(stage.name)
        log = self.log(stage)
        with (
            log.open("a", encoding="utf-8", buffering=1) as out,
            subprocess.Popen(
                stage.command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            assert process.stdout is not None
            try:
                for text in process.stdout:
                    out.write(text)
                    _show(line, stage, text)
            except KeyboardInterrupt:
                process.terminate()  # it may not have got the signal itself
                raise
        if process.returncode:
            line.finish("failed")
            tail = log.read_text(encoding="utf-8").splitlines()[-15:]
            print("\n".join(tail), file=sys.stderr)
            raise StageFailed(f"{stage.name}: exit code {process.returncode}, see {log}")
        line.finish("done")

    def _record(self, stage: Stage) -> tuple[str, bool]:
        record = self._read(stage)
        return record.get("fingerprint", ""), record.get("finished", False)

    def _read(self, stage: Stage) -> dict[str, Any]:
        try:
            return json.loads(self._record_path(stage).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}

    def _write_record(self, stage: Stage, **record: Any) -> None:
        self._record_path(stage).write_text(json.dumps(record), encoding="utf-8")

    def _record_path(self, stage: Stage) -> Path:
        return self._records / f"{stage.name}.json"


def _fingerprint(before: str, stage: Stage) -> str:
    """Of the command and, through theirs, of all commands that its inputs come from."""
    inputs: str | list[str] = before
    if stage.reads is not None:
        inputs = [_fingerprint("", read) for read in stage.reads]
    return hashlib.sha256(json.dumps([inputs, stage.command]).encode()).hexdigest()


def _show(line: ProgressLine, stage: Stage, text: str) -> None:
    found = re.search(stage.progress, text) if stage.progress else None
    if found is None:
        return
    total = stage.total or int(found["total"])
    line.update(int(found["done"]) / total, f"{found['done']} of {total}")
