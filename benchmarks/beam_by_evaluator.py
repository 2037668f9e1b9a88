"""How much faster is beam search by this project's evaluator than by fairseq's generator?

    python benchmarks/beam_by_evaluator.py [--size small|base] [--json FILE]

Value-guided beam search with α = 0 is fairseq's beam search with length penalty 1: both sides must
give the same translations. For this project's multi-query policy and for fairseq's own transformer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import common
import networks

from fairseq_mcts.search.options import VgbsOptions

BARS = {"small": 2.0, "base": 1.3}


def measure(options: argparse.Namespace, name: str, model: Any) -> common.Comparison:
    sample = networks.make_sample(
        model, networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    )
    theirs = networks.fairseq_generator(model, options.beam)
    ours = networks.search_generator(
        model, VgbsOptions(beam=options.beam, alpha=0.0), uses_value=False
    )
    found: dict[str, list[tuple[int, ...]]] = {}

    def decode(side: str, generator: Any) -> None:
        found[side] = networks.best_tokens(generator.generate([model], sample))

    seconds = common.alternate(
        {"fairseq": lambda: decode("fairseq", theirs), "evaluator": lambda: decode("ours", ours)},
        options,
    )
    return common.Comparison(
        f"fairseq's beam {options.beam} / VGBS with α = 0, {name}",
        seconds["fairseq"] / seconds["evaluator"],
        common.at_least(BARS.get(options.size)),
        {f"{side} s": value for side, value in seconds.items()},
        outputs_equal=found["fairseq"] == found["ours"],
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--beam", type=int, default=5)
    options = common.parse(parser, arguments)
    report = common.Report("beam by the evaluator", options, networks.settings())
    policy = networks.multiquery("multiquery_transformer", options.size, options.seed)
    report.add(measure(options, "multi-query", policy))
    policy = networks.multihead(options.size, options.seed)
    report.add(measure(options, "fairseq's transformer", policy))
    report.write()
    return report


if __name__ == "__main__":
    main()
