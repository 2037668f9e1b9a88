"""What the benchmarks of V-MCTS share: a network with its sentences, and both presets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import common
import dual_heads
import networks
from searches import v_mcts_options
from torch import Tensor

from fairseq_mcts.search.options import MctsOptions

# of the options and a preset
Measure = Callable[[argparse.Namespace, str], Iterator[common.Comparison]]


@dataclass(frozen=True)
class Case:
    """A dual-head network of the benchmarked size, and a generator that searches with it."""

    model: Any
    sources: list[Tensor]
    sample: dict[str, Any]
    search: MctsOptions
    generator: Any


def make_case(options: argparse.Namespace, preset: str) -> Case:
    model, sources = dual_heads.load(options)
    search = v_mcts_options(preset, options.simulations)
    generator = networks.search_generator(
        model, search, dual_heads.limits(options), uses_value=True
    )
    return Case(model, sources, networks.make_sample(model, sources), search, generator)


def report_presets(
    name: str,
    description: str | None,
    measure: Measure,
    arguments: Sequence[str] | None,
    **defaults: Any,
) -> common.Report:
    """A whole benchmark: `measure` with either preset; `defaults` are of the common options."""
    parser = common.make_parser(description)
    dual_heads.add_options(parser)
    parser.add_argument("--simulations", type=int, default=50)
    parser.set_defaults(**defaults)
    options = dual_heads.parse(parser, arguments)
    report = common.Report(name, options, dual_heads.settings(options))
    for preset in ("privileged", "unprivileged"):
        for comparison in measure(options, preset):
            report.add(comparison)
    report.write()
    return report
