"""How much faster is beam search by this project's evaluator than by fairseq's generator?

    python benchmarks/beam_by_evaluator.py [--size small|base] [--json FILE]

Value-guided beam search with α = 0 is fairseq's beam search with length penalty 1: both sides must
give the same translations. For this project's multi-query policy and for fairseq's own transformer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import common
import networks

from fairseq_mcts.search import make_decoder

BARS = {"small": 2.0, "base": 1.7}


class Case:
    """A policy, its sentences, and both beam searches."""

    def __init__(self, options: argparse.Namespace, name: str, model: Any) -> None:
        self.name = name
        self._model = model = model.to(options.device)
        sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
        self._sample = networks.make_sample(model, sources)
        self._theirs = networks.fairseq_generator(model, options.beam)
        decoder = make_decoder("vgbs", {"beam": options.beam, "alpha": 0.0})
        self._ours = networks.search_generator(model, decoder)

    def by_fairseq(self) -> list[tuple[int, ...]]:
        return networks.best_tokens(self._theirs.generate([self._model], self._sample))

    def by_evaluator(self) -> list[tuple[int, ...]]:
        return networks.best_tokens(self._ours.generate([self._model], self._sample))

    def seconds(self, options: argparse.Namespace) -> dict[str, float]:
        return common.alternate(
            {"fairseq": self.by_fairseq, "evaluator": self.by_evaluator}, options
        )


def parse(
    description: str | None, arguments: Sequence[str] | None
) -> tuple[argparse.Namespace, Iterator[Case]]:
    """The options, and the two cases that they describe."""
    parser = common.make_parser(description)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--beam", type=int, default=5)
    options = common.parse(parser, arguments)
    return options, _cases(options)


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    policy = networks.multiquery("multiquery_transformer", options.size, options.seed)
    yield Case(options, "multi-query", policy)
    policy = networks.multihead(options.size, options.seed)
    yield Case(options, "fairseq's transformer", policy)


def measure(options: argparse.Namespace, case: Case) -> common.Comparison:
    seconds = case.seconds(options)
    return common.Comparison(
        f"fairseq's beam {options.beam} / VGBS with α = 0, {case.name}",
        seconds["fairseq"] / seconds["evaluator"],
        common.at_least(BARS.get(options.size)),
        {f"{side} s": value for side, value in seconds.items()},
        outputs_equal=case.by_fairseq() == case.by_evaluator(),
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    options, cases = parse(__doc__, arguments)
    report = common.Report("beam by the evaluator", options, networks.settings())
    for case in cases:
        report.add(measure(options, case))
    report.write()
    return report


if __name__ == "__main__":
    main()
