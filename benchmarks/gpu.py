"""The figures that depend on where networks are computed, as one table: for machines with a GPU.

    python benchmarks/gpu.py [--size small|base] [--device cuda] [--table FILE.md]

Runs overhead, beam search, joined batches and growth as `make bench` does on CPUs, with networks
on the device, and V-MCTS beside fairseq's beam 5. On a GPU it also counts how often the host waits
for it: once a call of the evaluator is what a search needs. This project has no GPU: please send us
the table.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import beam_by_evaluator
import common
import dual_heads
import growth
import joining
import networks
import overhead
import render
import torch
import vmcts

from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator

BEAM = 5
BEAM_BAR = 1.0
WAITS_BAR = 1.05  # a call; ties between tokens need a second look now and then


def against_beam(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    """What a search costs in beam searches by fairseq."""
    case = vmcts.make_case(options, preset)
    beam = networks.fairseq_generator(case.model, BEAM, dual_heads.limits(options))
    seconds = common.alternate(
        {
            "beam": lambda: beam.generate([case.model], case.sample),
            "mcts": lambda: case.generator.generate([case.model], case.sample),
        },
        options,
    )
    yield common.Comparison(
        f"V-MCTS ({preset}, {options.simulations} simulations) / fairseq's beam {BEAM}",
        seconds["mcts"] / seconds["beam"],
        common.at_most(BEAM_BAR),
        {f"{name} s": took for name, took in seconds.items()},
    )
    if torch.device(options.device).type == "cuda":
        yield waiting(case, preset)


def waiting(case: vmcts.Case, preset: str) -> common.Comparison:
    """How often the host waits for a GPU in a call of the evaluator."""
    calls, evaluate = 0, NetworkEvaluator.evaluate

    def watched(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        torch.cuda.set_sync_debug_mode("warn")
        try:
            return evaluate(*given)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    with (
        warnings.catch_warnings(record=True) as seen,
        mock.patch.object(NetworkEvaluator, "evaluate", watched),
    ):
        warnings.simplefilter("always")
        case.generator.generate([case.model], case.sample)
    waits = sum("synchroniz" in str(one.message) for one in seen)
    return common.Comparison(
        f"V-MCTS ({preset}): waits for the GPU / calls",
        waits / calls,
        common.at_most(WAITS_BAR),
        {"waits": waits, "calls": calls},
    )


def run(options: argparse.Namespace) -> list[common.Report]:
    """All of them, one after the other."""
    given = ["--device", options.device, "--size", options.size]
    given += ["--repeats", str(options.repeats)]
    searched = [*given, "--simulations", str(options.simulations)]
    if options.sentences is not None:
        searched += ["--sentences", str(options.sentences)]
    reports = [
        vmcts.report_presets("against beam", __doc__, against_beam, searched),
        overhead.main(searched),
        joining.main(searched),
        beam_by_evaluator.main(given),
    ]
    if options.growth:
        reports.append(growth.main(given))
    return reports


def main(arguments: Sequence[str] | None = None) -> str:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", choices=("tiny", "small", "base"), default="base")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--sentences", type=int, help="other than each benchmark's own number")
    parser.add_argument("--no-growth", dest="growth", action="store_false")
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the table there")
    options = parser.parse_args(arguments)
    if torch.device(options.device).type == "cuda" and not torch.cuda.is_available():
        sys.exit(f"--device {options.device}: torch {torch.__version__} sees no GPU here")
    table = render.render([report.content() for report in run(options)])
    print(table)
    if options.table is not None:
        options.table.write_text(table, encoding="utf-8")
    return table


if __name__ == "__main__":
    main()
