"""Does work take as long as fairseq-mcts-plan says?

    python benchmarks/plan.py [--size small|base] [--sentences N] [--work NAME] [--json FILE]

fairseq-mcts-plan measures V-MCTS, and relabelling by completions, on batches of a corpus and
projects to all of it, for one worker and for two. Then fairseq-generate decodes that corpus: by one
process, and by two at once that take half of the sentences each; and fairseq-mcts-relabel relabels
it with --workers. The figures are real seconds over projected ones, or the inverse if that is more,
from the start of the processes to their end. Other work on the machine must not change meanwhile:
the load is printed. Small corpora are mostly starting.
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
from fairseq_mcts.user_dir import USER_DIR

FARTHEST = 1.25  # real over projected, or the other way round


class Decoding:
    """Commands that decode one corpus."""

    def __init__(self, folder: Path, simulations: int) -> None:
        self.folder = folder
        self.options = [
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--gen-subset", "train"),
            *("--batch-size", "32", "--max-len-b", str(networks.MAX_LENGTH), "--search", "mcts"),
            *("--search-budget", str(simulations)),
        ]

    def real(self, workers: int, turn: int) -> list[list[str]]:
        """Commands that share the work."""
        return [
            [
                *("fairseq_cli.generate", *self.options, "--user-dir", str(USER_DIR)),
                *("--task", "translation_mcts", "--distributed-world-size", str(workers)),
                *("--distributed-rank", str(rank)),
                *("--results-path", str(self.folder / f"results-{workers}-{rank}-{turn}")),
            ]
            for rank in range(workers)
        ]


class Relabelling:
    """Commands that relabel it."""

    def __init__(self, folder: Path, simulations: int) -> None:
        self.folder = folder
        self.recipe = [
            *(str(folder), "--path", str(folder / "model.pt"), "--cpu", "--subset", "train"),
            *("--batch-size", "32", "--max-len-b", str(networks.MAX_LENGTH)),
            *("--metric", "chrf", "--method", "completions"),
        ]
        self.options = ["--work", "relabel", *self.recipe]

    def real(self, workers: int, turn: int) -> list[list[str]]:
        """One command."""
        out = str(self.folder / f"scored-{workers}-{turn}")
        more = ["--out", out, "--workers", str(workers), "--chunk-rows", "100"]
        return [["fairseq_mcts.cli.relabel", *self.recipe, *more]]


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
        self._run([[
            "fairseq_mcts.cli.plan", *self.work.options, "--seconds", str(self.seconds),
            *("--sentences", str(self.sentences), "--workers", "1,2", "--json", str(path)),
        ]])  # fmt: skip
        plan = json.loads(path.read_text(encoding="utf-8"))["plan"]
        return {one["workers"]: one["seconds"] for one in plan}

    def real(self, workers: int, turn: int) -> float:
        """Seconds until all processes have ended."""
        begun = time.perf_counter()
        self._run(self.work.real(workers, turn))
        return time.perf_counter() - begun

    def _run(self, modules: Sequence[Sequence[str]]) -> None:
        """Runs modules with their arguments at the same time."""
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", *module],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for module in modules
        ]
        said = [process.communicate()[0] for process in processes]
        for process, text in zip(processes, said, strict=True):
            if process.returncode:
                raise RuntimeError(f"{process.args} failed: {text[-2000:]}")


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
