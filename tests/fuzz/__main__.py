"""The long run of `make fuzz`: python -m tests.fuzz [--searches N] [--lines N] [--commands N].

The same seed gives the same cases, and --first N begins with case N: a fault is named by both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.search.__main__ import compile_kernels
from tests.fuzz.choices import Choices
from tests.fuzz.driver import Findings, RunCase, run_cases
from tests.fuzz.search_cases import random_case
from tests.fuzz.search_checks import check_search

BOUND = 120.0  # seconds of computing that a case may take


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs everything that is asked for; how many faults there were."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--searches", type=int, default=100_000, metavar="N", help="cases (default: %(default)s)")
    add("--lines", type=int, default=10_000, metavar="N", help="of text (default: %(default)s)")
    add("--commands", type=int, default=2_000, metavar="N", help="lines (default: %(default)s)")
    add("--seed", type=int, default=1)
    add("--first", type=int, default=0, metavar="N", help="number of the first case")
    add("--work", type=Path, metavar="DIR", help="keep the trained model there, or take it")
    options = parser.parse_args(arguments)
    warnings.simplefilter("error", RuntimeWarning)  # numpy's: something was divided by 0
    with tempfile.TemporaryDirectory() as folder:
        findings = _run(options, options.work or Path(folder))
    print("\n".join(["", *map(str, findings), *(f for one in findings for f in one.faults)]))
    return sum(len(one.faults) for one in findings)


def _run(options: argparse.Namespace, folder: Path) -> list[Findings]:
    findings = []

    def run(kind: str, run_case: RunCase, count: int) -> None:
        numbers = range(options.first, options.first + count)
        findings.append(run_cases(kind, run_case, numbers, seed=options.seed, bound=BOUND))

    compile_kernels()  # which may take longer than any case
    if options.searches:
        run("searches", _search, options.searches)
    if options.lines or options.commands:
        from tests.fuzz.networks import LINES, Networks

        networks = Networks.prepare(folder)
        if options.lines:
            run("files of lines", networks.translate_lines, -(-options.lines // LINES))
        if options.commands:
            run("command lines", networks.run_command_line, options.commands)
    return findings


def _search(choices: Choices) -> str:
    case = random_case(choices)
    decoded = check_search(case, alone=choices.integer(0, case.num_sentences - 1))
    return "decoded" if decoded else "refused"


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
