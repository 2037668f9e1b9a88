"""What the benchmarks of V-MCTS share: a network with its sentences, and both presets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import common
import dual_heads
import networks
from searches import PRESETS, v_mcts_decoder
from torch import Tensor

from fairseq_mcts.search import Decoder

# of the options and a preset
Measure = Callable[[argparse.Namespace, str], Iterator[common.Comparison]]


@dataclass(frozen=True)
class Case:
    """A dual-head network of the benchmarked size, and a generator that searches with it."""

    model: Any
    sources: list[Tensor]
    sample: dict[str, Any]
    decoder: Decoder[Any]
    generator: Any


def make_case(options: argparse.Namespace, preset: str) -> Case:
    model, sources = dual_heads.load(options)
    decoder = v_mcts_decoder(preset, options.simulations)
    generator = networks.search_generator(model, decoder, dual_heads.limits(options))
    return Case(model, sources, networks.make_sample(model, sources), decoder, generator)


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
    for preset in PRESETS:
        for comparison in measure(options, preset):
            report.add(comparison)
    report.write()
    return report
