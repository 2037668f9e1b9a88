"""Does work take as long as fairseq-mcts-plan says?

    python benchmarks/plan.py [--size small|base] [--sentences N] [--work NAME] [--json FILE]

fairseq-mcts-plan measures V-MCTS, and relabelling by completions, on parts of a corpus and
projects to all of it, for one worker and for two. Then fairseq-mcts-generate decodes that corpus,
and fairseq-mcts-relabel relabels it, with --workers. The figures are real seconds over projected
ones, or the inverse if that is more, from the start of a command to its end. Other work on the
machine must not change meanwhile: the load is printed. Small corpora are mostly starting.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import common
import networks
from relabelling import write_checkpoint, write_corpus

from fairseq_mcts.register import register

FARTHEST = 1.25  # real over projected, or the other way round


class Decoding:
    """Decoding of one corpus."""

    def __init__(self, folder: Path, simulations: int) -> None:
        self.folder = folder
        self.options = [
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--gen-subset", "train"),
            *("--batch-size", "32", "--max-len-b", str(networks.MAX_LENGTH), "--search", "mcts"),
            *("--search-budget", str(simulations), "--chunk-sentences", "100"),
        ]

    def real(self, workers: int, turn: int) -> list[str]:
        """A module that does the work, with its arguments."""
        out = str(self.folder / f"results-{workers}-{turn}")
        more = ["--out", out, "--workers", str(workers)]
        return ["fairseq_mcts.cli.generate", *self.options, *more]


class Relabelling:
    """Relabelling of it."""

    def __init__(self, folder: Path, simulations: int) -> None:
        self.folder = folder
        self.recipe = [
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--subset", "train"),
            *("--batch-size", "32", "--max-len-b", str(networks.MAX_LENGTH)),
            *("--metric", "chrf", "--method", "completions"),
        ]
        self.options = ["--work", "relabel", *self.recipe]

    def real(self, workers: int, turn: int) -> list[str]:
        """A module that does the work, with its arguments."""
        out = str(self.folder / f"scored-{workers}-{turn}")
        more = ["--out", out, "--workers", str(workers), "--chunk-rows", "100"]
        return ["fairseq_mcts.cli.relabel", *self.recipe, *more]


KINDS = {"generate": Decoding, "relabel": Relabelling}


class Runs:
    """Plans and real runs of one kind of work."""

    def __init__(self, work: Decoding | Relabelling, options: argparse.Namespace) -> None:
        self.work = work
        self.sentences = options.sentences
        self.seconds = options.seconds
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}

    def projected(self) -> dict[int, float]:
        """Seconds by number of workers."""
        path = self.work.folder / "plan.json"
        measuring = ["--seconds", str(self.seconds), "--json", str(path)]
        corpus = ["--sentences", str(self.sentences), "--workers", "1,2"]
        self._run(["fairseq_mcts.cli.plan", *self.work.options, *corpus, *measuring])
        plan = json.loads(path.read_text(encoding="utf-8"))["plan"]
        return {one["workers"]: one["seconds"] for one in plan}

    def real(self, workers: int, turn: int) -> float:
        """Seconds until the command has ended."""
        begun = time.perf_counter()
        self._run(self.work.real(workers, turn))
        return time.perf_counter() - begun

    def _run(self, module: Sequence[str]) -> None:
        """Runs a module with its arguments."""
        command = [sys.executable, "-m", *module]
        done = subprocess.run(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stdout[-2000:]}")


def measure(options: argparse.Namespace, folder: Path, kind: str) -> list[common.Comparison]:
    runs = Runs(KINDS[kind](folder, options.simulations), options)
    runs.real(1, -1)  # compiles and fills the caches of the disk
    projected: dict[int, list[float]] = {1: [], 2: []}
    real: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(options.repeats):
        for workers, seconds in runs.projected().items():
            projected[workers].append(seconds)
            real[workers].append(runs.real(workers, turn))
    comparisons = []
    for workers in (1, 2):
        took = statistics.median(real[workers])
        expected = statistics.median(projected[workers])
        ratio = took / expected
        comparisons.append(
            common.Comparison(
                f"{kind} by {workers}, real / projected (or the inverse)",
                max(ratio, 1 / ratio),
                common.at_most(FARTHEST),
                {"real s": took, "projected s": expected, "sentences": options.sentences},
            )
        )
    return comparisons


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--simulations", type=int, default=20, help="of MCTS, for each token")
    parser.add_argument("--seconds", type=float, default=30, help="of measuring for the plan")
    parser.add_argument("--work", choices=list(KINDS), help="one kind of work (default: all)")
    parser.set_defaults(repeats=1)
    options = common.parse(parser, arguments)
    if options.clock != "wall":
        parser.error("--clock cpu: processes are compared by the clock on the wall alone")
    report = common.Report("plan", options, networks.settings())
    register()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, options.size, options.sentences, options.seed)
        family = "dual_head_multiquery_transformer"
        write_checkpoint(folder, options.size, options.seed, folder / "model.pt", family)
        for kind in KINDS if options.work is None else [options.work]:
            for comparison in measure(options, folder, kind):
                report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
