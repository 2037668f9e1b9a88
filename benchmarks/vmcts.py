"""What the benchmarks of V-MCTS share: a random network with its sentences, and both presets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import common
import networks
from torch import Tensor

from fairseq_mcts.search.options import PRESETS, MctsOptions

Measure = Callable[[argparse.Namespace, str], common.Comparison]  # of the options and a preset


@dataclass(frozen=True)
class Case:
    """A dual-head network of the benchmarked size, and a generator that searches with it."""

    model: Any
    sources: list[Tensor]
    sample: dict[str, Any]
    search: MctsOptions
    generator: Any


def make_case(options: argparse.Namespace, preset: str) -> Case:
    model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
    sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    search = MctsOptions(simulations=options.simulations, **PRESETS[preset]["mcts"])
    generator = networks.search_generator(model, search, uses_value=True)
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
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--simulations", type=int, default=50)
    parser.set_defaults(**defaults)
    options = common.parse(parser, arguments)
    report = common.Report(name, options, networks.settings())
    for preset in ("privileged", "unprivileged"):
        report.add(measure(options, preset))
    report.write()
    return report
