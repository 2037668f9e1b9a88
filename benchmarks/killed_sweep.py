"""Does a sweep that is killed again and again find what an undisturbed one finds?

    python benchmarks/killed_sweep.py [--size tiny] [--kills N] [--json FILE]

fairseq-mcts-sweep tries a grid of V-MCTS: once undisturbed; then by two workers, and by two as an
optuna study, each killed by SIGKILL --kills times, at random moments of its start and after
settings that are finished. About half of the kills hit all processes of a command, which is
started again, the others a single worker, after which the command goes on by itself. In the end
the tables and the files of all trials must be the same but for the seconds of decoding, and no
trial that was finished may have been done again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import networks
from interrupted import run_with_kills
from relabelling import write_checkpoint, write_corpus

from fairseq_mcts.register import register

SWEPT = ("--sweep", "mcts-c-puct={}", "--sweep", "mcts-backup=mean,max")


class Sweeps:
    """Sweeps of one corpus and checkpoint."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder = folder
        self.dice = random.Random(options.seed)
        self.within = options.within
        values = ",".join(str(number / 4) for number in range(1, options.settings // 2 + 1))
        self.command = [
            *(sys.executable, "-m", "fairseq_mcts.cli.sweep"),
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--gen-subset", "train"),
            *("--batch-size", "8", "--max-len-b", str(networks.MAX_LENGTH), "--search", "mcts"),
            *("--search-budget", str(options.simulations), *(one.format(values) for one in SWEPT)),
            *("--sweep-metric", "bleu", "--sweep-metric", "chrf"),
        ]

    def undisturbed(self, out: Path) -> str:
        """The table."""
        command = [*self.command, "--sweep-out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stderr[-2000:]}")
        return table(done.stdout)

    def killed(self, out: Path, kills: int, *more: str) -> tuple[str, dict[str, int], bool]:
        """The table in the end, how many kills came before it, and whether all trials stayed."""
        written: dict[str, int] = {}
        stayed = [True]

        def count() -> int:
            now = times(out)
            stayed[0] &= now.items() >= written.items()
            written.update(now)
            return len(now)

        log = out.with_suffix(".log")
        command = [*self.command, "--sweep-out", str(out), *more]
        kinds = run_with_kills(command, count, log, kills, self.within, self.dice)
        count()
        return table(log.read_text()), kinds, stayed[0]


def table(said: str) -> str:
    """Without the column of seconds, and without where things lie."""
    text = said.rpartition(" sentences\n")[2].partition("\nto decode so:")[0]
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
    expected = sweeps.undisturbed(folder / "undisturbed")
    two = ("--workers", "2")
    for name, more in (
        ("by two workers", two),
        ("by two, as a study", (*two, "--storage", f"sqlite:///{folder}/study.db")),
    ):
        out = folder / name.replace(" ", "-")
        found, kinds, stayed = sweeps.killed(out, options.kills, *more)
        same = found == expected and content(out) == content(folder / "undisturbed") and stayed
        figures = {**kinds, "trials": len(content(out))}
        kills = kinds["groups"] + kinds["workers"]
        yield common.Comparison(f"kills of a sweep {name}", kills, None, figures, same)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=10, help="of MCTS, for each token")
    # more than kills, most of which wait for a setting that is new
    parser.add_argument("--settings", type=int, default=40, help="that are tried, an even number")
    parser.add_argument("--kills", type=int, default=20, help="of each kind of sweep")
    parser.add_argument(
        "--within", type=float, default=3.0, help="seconds after a trial that a kill comes in"
    )
    parser.set_defaults(size="tiny")
    options = common.parse(parser, arguments)
    report = common.Report("killed_sweep", options, networks.settings())
    report.measure_in_a_folder(measure)
    return report


if __name__ == "__main__":
    main()
