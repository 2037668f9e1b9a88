"""Runs all benchmarks and renders their figures as a table for the README.

    python benchmarks/render.py [--size small|base] [--work DIR] [--only NAME …]
    python benchmarks/render.py --no-run

Each benchmark is a process of its own, one after the other, and writes benchmarks/results/NAME.json
(-SIZE where it has sizes). Those that need a trained model take that of `make demo` in --work, and
are left out if there is none. --no-run renders the files that are there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SIZED = (
    "overhead",
    "against_listing",
    "against_greedy",
    "prefetch",
    "joining",
    "gumbel_root",
    "beam_by_evaluator",
    "against_ctranslate2",
    "multiquery",
    "growth",
    "relabelling",
    "plan",
    "products",
    "dtype",
    "start_up",
    "headline",
    "threads",
    "value_training",
)
PLOTTED = ("multiquery", "growth")
CHECKPOINT = Path("value", "checkpoint_best.pt")  # a policy with a value of `make demo`
TRAINED = ("exact_reuse", "leaves", "rollouts", "metric_arithmetic")


def commands(size: str, work: Path, only: Sequence[str], results: Path) -> dict[str, list[str]]:
    """Name of the result -> how to get it."""
    found = {}
    for name in only:
        result = f"{name}-{size}" if name in SIZED else name
        command = [
            sys.executable,
            str(HERE / f"{name}.py"),
            "--json",
            str(results / f"{result}.json"),
        ]
        if name in SIZED:
            command += ["--size", size]
        if name in PLOTTED:
            command += ["--plot", str(results / f"{result}.png")]
        if name in TRAINED:
            if not (work / CHECKPOINT).is_file():
                print(f"{name}: left out, {work} holds no trained model; `make demo` makes one")
                continue
            command += on_trained_model(name, work)
        found[result] = command
    return found


def on_trained_model(name: str, work: Path) -> list[str]:
    """The options that point to what `make demo` left in `work`."""
    given = ["--path", str(work / CHECKPOINT), "--post-process", "sentencepiece"]
    data, encoder = str(work / "binarised"), work / "encoder"
    if name in ("leaves", "rollouts", "metric_arithmetic"):
        return [data, *given, "--encoder", str(encoder)]
    return [*given, "--data", data, "--metric", f"mlbertscore:model={encoder}"]


def run(named: dict[str, list[str]]) -> list[str]:
    """Runs them in turn; the names of those that failed."""
    failed = []
    for name, command in named.items():
        print(f"== {name}: {' '.join(command)}", flush=True)
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    return failed


def render(results: Sequence[dict[str, Any]]) -> str:
    """A markdown table, one row a figure with its date and machine, and what these machines are."""
    heads = ("benchmark", "size", "compared", "figure", "bar", "", "date", "machine")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    machines: list[str] = []
    for result in results:
        size = result["settings"].get("size", "demo")
        where = _machine(result)
        if where not in machines:
            machines.append(where)
        date = result["machine"].get("date", "–")  # older files have none
        for one in result["comparisons"]:
            cells = (
                *(result["benchmark"], size, one["compared"], f"{one['figure']:.2f}"),
                *(one["bar"] or "–", one["verdict"], date, str(1 + machines.index(where))),
            )
            lines.append(f"| {' | '.join(cells)} |")
    numbered = [f"{number}. {one}" for number, one in enumerate(machines, start=1)]
    return "\n".join([*lines, "", *numbered]) + "\n"


def _machine(result: dict[str, Any]) -> str:
    machine, threads = result["machine"], result["settings"]["threads"]
    names = [machine[kind] for kind in ("cpu", "gpu") if kind in machine]
    return (
        f"{', '.join(names)}, {machine['cores']} cores, torch {machine['torch']}, {threads} thread"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=("tiny", "small", "base"), default="small")
    parser.add_argument("--work", type=Path, default=Path("work"), help="folder of `make demo`")
    parser.add_argument(
        "--only", nargs="+", choices=(*SIZED, *TRAINED), default=(*SIZED, *TRAINED), metavar="NAME"
    )
    parser.add_argument("--no-run", action="store_true", help="render the files that are there")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    options = parser.parse_args(arguments)
    failed = []
    if not options.no_run:
        named = commands(options.size, options.work, options.only, options.results)
        failed = run(named)
    files = sorted(options.results.glob("*.json"))
    if not files:
        parser.error(f"{options.results} holds no results")
    table = render([json.loads(path.read_text(encoding="utf-8")) for path in files])
    (options.results / "table.md").write_text(table, encoding="utf-8")
    print(table)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
