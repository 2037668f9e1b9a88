"""Does a sweep that is killed again and again find what an undisturbed one finds?

    python benchmarks/killed_sweep.py [--size tiny] [--kills N] [--json FILE]

fairseq-mcts-sweep tries a grid of V-MCTS: once undisturbed; then in one process, in two, and in two
as an optuna study, each killed by SIGKILL at random moments and started again until it is finished
or has been killed --kills times. Half of the kills hit all processes of a command, half a single
worker, after which the command goes on by itself. In the end the tables and the files of all trials
must be the same but for the seconds of decoding, and no finished trial may have been done twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import networks
from relabelling import write_checkpoint, write_corpus

from fairseq_mcts.register import register

SWEPT = ("--sweep", "mcts-c-puct=0.5,1,2,4,8", "--sweep", "mcts-backup=mean,max")


class Sweeps:
    """Sweeps of one corpus and checkpoint."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder = folder
        self.dice = random.Random(options.seed)
        self.undisturbed_seconds = 0.0
        self.options = [
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--gen-subset", "train"),
            *("--batch-size", "8", "--max-len-b", str(networks.MAX_LENGTH), "--search", "mcts"),
            *("--search-budget", str(options.simulations), *SWEPT),
            *("--sweep-metric", "bleu", "--sweep-metric", "chrf"),
        ]

    def start(self, out: Path, *more: str) -> subprocess.Popen[str]:
        """In a group of its own, which can be killed as a whole."""
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "fairseq_mcts.cli.sweep", *self.options),
                *("--sweep-out", str(out), *more),
            ],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def undisturbed(self, out: Path) -> str:
        begun = time.perf_counter()
        said = self._end(self.start(out))
        self.undisturbed_seconds = time.perf_counter() - begun
        return table(said)

    def killed(self, out: Path, kills: int, *more: str) -> tuple[str, int, bool]:
        """The table in the end, how many kills came before it, and whether all trials stayed."""
        done, all_stayed = 0, True
        written: dict[str, int] = {}
        process = self.start(out, *more)
        while done < kills:
            try:
                process.wait(self.dice.uniform(0.1, 0.7) * self.undisturbed_seconds)
                break
            except subprocess.TimeoutExpired:
                done += 1
            now = times(out)
            all_stayed &= now.items() >= written.items()
            written = now
            workers = children(process.pid)
            if workers and self.dice.random() < 0.5:
                os.kill(self.dice.choice(workers), signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                process = self.start(out, *more)
        said = self._end(process)
        return table(said), done, all_stayed and times(out).items() >= written.items()

    def _end(self, process: subprocess.Popen[str]) -> str:
        out, err = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{process.args} failed: {err[-2000:]}")
        return out


def children(pid: int) -> list[int]:
    """The workers of a command: its children that run Python's spawn_main."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            behind_name = (path / "stat").read_text().rpartition(")")[2].split()
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if int(behind_name[1]) == pid and b"spawn_main" in command:
            found.append(int(path.name))
    return found


def table(said: str) -> str:
    """Without the column of seconds, and without where things lie."""
    text = said.partition(" sentences\n")[2].partition("\nto decode so:")[0]
    rows, blank, rest = text.partition("\n\n")
    return re.sub(r" +[\d.]+( +\*)?$", r"\1", rows, flags=re.M) + blank + rest


def content(out: Path) -> dict[str, dict[str, Any]]:
    """All trials but for their seconds."""
    found = {path.name: json.loads(path.read_text()) for path in out.glob("trial-*.json")}
    return {name: {**trial, "seconds": 0} for name, trial in found.items()}


def times(out: Path) -> dict[str, int]:
    """When trials were written."""
    return {path.name: path.stat().st_mtime_ns for path in out.glob("trial-*.json")}


def measure(options: argparse.Namespace, folder: Path) -> Iterator[common.Comparison]:
    register()
    write_corpus(folder, options.size, options.sentences, options.seed)
    family = "dual_head_multiquery_transformer"
    write_checkpoint(folder, options.size, options.seed, folder / "model.pt", family)
    sweeps = Sweeps(folder, options)
    sweeps.undisturbed(folder / "compiles")
    expected = sweeps.undisturbed(folder / "undisturbed")
    two = ("--workers", "2")
    for name, more in (
        ("in one process", ()),
        ("in two", two),
        ("in two, as a study", (*two, "--storage", f"sqlite:///{folder}/study.db")),
    ):
        out = folder / name.replace(" ", "-")
        found, kills, stayed = sweeps.killed(out, options.kills, *more)
        same = found == expected and content(out) == content(folder / "undisturbed") and stayed
        yield common.Comparison(
            f"kills of a sweep {name}", kills, None, {"trials": len(content(out))}, same
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=10, help="of MCTS, for each token")
    parser.add_argument("--kills", type=int, default=5, help="of each kind of sweep")
    parser.set_defaults(size="tiny")
    options = common.parse(parser, arguments)
    report = common.Report("killed_sweep", options, networks.settings())
    with tempfile.TemporaryDirectory() as folder:
        for comparison in measure(options, Path(folder)):
            report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
