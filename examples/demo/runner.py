"""Runs stages once: finished ones are skipped, interrupted ones go on, changed ones restart.

A stage is one command with one folder for what it makes. Beside the folders lies a record of each
stage: a fingerprint of its command and of all commands before it, and whether it finished.
"""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.demo.progress import ProgressLine


class StageFailed(Exception):
    """A command of the demo did not succeed."""


@dataclass(frozen=True)
class Stage:
    """One command of the demo."""

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


class Runner:
    """Runs stages in order and remembers in `work` what is finished."""

    def __init__(self, work: Path) -> None:
        self._records = work / "stages"
        self._records.mkdir(parents=True, exist_ok=True)

    def run(self, stages: Sequence[Stage]) -> None:
        fingerprint = ""
        for number, stage in enumerate(stages, start=1):
            fingerprint = _fingerprint(fingerprint, stage)
            print(f"[{number}/{len(stages)}] {stage.title}", flush=True)
            if self._record(stage) == (fingerprint, True):
                print("  already done", flush=True)
                continue
            self._run_one(stage, fingerprint)

    def log(self, stage: Stage) -> Path:
        """Everything that the stage's command printed when it last ran."""
        return self._records / f"{stage.name}.log"

    def _run_one(self, stage: Stage, fingerprint: str) -> None:
        if self._record(stage)[0] != fingerprint:
            # Made by another command, or by the same one from other inputs.
            shutil.rmtree(stage.output, ignore_errors=True)
        stage.output.mkdir(parents=True, exist_ok=True)
        self._write_record(stage, fingerprint, finished=False)
        print(f"  $ {shlex.join(stage.command)}", flush=True)
        self._execute(stage)
        self._write_record(stage, fingerprint, finished=True)

    def _execute(self, stage: Stage) -> None:
        line = ProgressLine(stage.name)
        log = self.log(stage)
        with (
            log.open("w", encoding="utf-8", buffering=1) as out,
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
        try:
            record = json.loads(self._record_path(stage).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return "", False
        return record["fingerprint"], record["finished"]

    def _write_record(self, stage: Stage, fingerprint: str, *, finished: bool) -> None:
        record = {"fingerprint": fingerprint, "finished": finished}
        self._record_path(stage).write_text(json.dumps(record), encoding="utf-8")

    def _record_path(self, stage: Stage) -> Path:
        return self._records / f"{stage.name}.json"


def _fingerprint(before: str, stage: Stage) -> str:
    return hashlib.sha256(json.dumps([before, stage.command]).encode()).hexdigest()


def _show(line: ProgressLine, stage: Stage, text: str) -> None:
    found = re.search(stage.progress, text) if stage.progress else None
    if found is None:
        return
    total = stage.total or int(found["total"])
    line.update(int(found["done"]) / total, f"{found['done']} of {total}")
