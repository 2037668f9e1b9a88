"""Whole commands, from start to end, for the benchmarks that compare such."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PLUGIN = Path(__file__).parents[1] / "user_dir"


class Cost(NamedTuple):
    """Seconds of a clock and of processors."""

    wall: float
    cpu: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Of benchmarks that compare whole commands: these take seconds to start."""
    parser.add_argument(
        "--no-warm-up",
        dest="warm_up",
        action="store_false",
        help="measure from the first round on: nothing is to be compiled or cached any more",
    )
    parser.set_defaults(clock="cpu")


def module(name: str, *given: object) -> list[str]:
    """The command that runs a module with these arguments."""
    return [sys.executable, "-m", name, *map(str, given)]


def fairseq_generate(*given: object, plugin: bool = True) -> list[str]:
    """fairseq's own command."""
    of_plugin = ("--user-dir", PLUGIN, "--task", "translation_mcts") if plugin else ()
    return module("fairseq_cli.generate", *of_plugin, *given)


def cost(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """What a command costs; it must succeed. What it starts and waits for is counted too."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        # else Popen would wait for a process that has gone
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            output.seek(0)
            raise RuntimeError(f"failed: {' '.join(command)}\n{output.read()[-3000:]}")
    return Cost(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime)


def alternate(
    sides: Mapping[str, Callable[[], Cost]], rounds: int, *, warm_up: bool = True
) -> dict[str, Cost]:
    """The least costs of each side; they take turns, with `warm_up` after one unmeasured turn."""
    costs: dict[str, list[Cost]] = {name: [] for name in sides}
    for turn in range(rounds + warm_up):
        for name, run in sides.items():
            found = run()
            if turn >= warm_up:
                costs[name].append(found)
    return {
        name: Cost(min(one.wall for one in found), min(one.cpu for one in found))
        for name, found in costs.items()
    }


def hypotheses(folder: Path, subset: str) -> dict[int, str]:
    """The best translation of each sentence that a command has written to its folder, as tokens."""
    best: dict[int, str] = {}
    text = (folder / f"generate-{subset}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        kind, _, rest = line.partition("-")
        if kind == "H":
            number, _, tokens = rest.split("\t")
            best.setdefault(int(number), tokens)
    return best
