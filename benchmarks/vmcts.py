"""What the benchmarks of V-MCTS share: a network with its sentences, and both presets.

The network is random, or with --path and --data a trained one on real sentences: how many prefixes
a search meets anew depends on how sure its policy is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import networks
import trained
from searches import v_mcts_options
from torch import Tensor

from fairseq_mcts.search.options import MctsOptions

MAX_LENGTH = 100  # of a trained model's translations

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
    if options.path is None:
        model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
        sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    else:
        found = trained.load(options.path, options.data, options.subset, options.sentences)
        model = found.model
        sources = sorted((row["source"] for row in found.rows), key=len, reverse=True)
    search = v_mcts_options(preset, options.simulations)
    generator = networks.search_generator(model, search, case_limits(options), uses_value=True)
    return Case(model, sources, networks.make_sample(model, sources), search, generator)


def case_limits(options: argparse.Namespace) -> networks.Limits:
    """Random networks need to be told what a usual length is."""
    return networks.limits() if options.path is None else networks.Limits(max_len_b=MAX_LENGTH)


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
    parser.add_argument("--path", type=Path, help="a trained dual head instead of a random one")
    parser.add_argument("--data", type=Path, help="binarised data for it")
    parser.add_argument("--subset", default="test", help="of the data (default: %(default)s)")
    parser.set_defaults(**defaults)
    options = common.parse(parser, arguments)
    if (options.path is None) != (options.data is None):
        parser.error("--path and --data: give both or neither")
    report = common.Report(name, options, networks.settings() if options.path is None else {})
    for preset in ("privileged", "unprivileged"):
        for comparison in measure(options, preset):
            report.add(comparison)
    report.write()
    return report
