"""What it saves that sentences join a batch as others leave it: batch by batch / joined.

    python benchmarks/joining.py [--size small|base] [--json FILE]
    python benchmarks/joining.py --path value.pt --data data-bin --sentences 1000

Batches of 32 sentences of similar length, as fairseq makes them, one after the other; and the same
sentences, 32 of them at the same time, as fairseq-mcts-generate searches them. Fill is the number
of prefixes in a call of the network over 32: one of each sentence.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import common
import dual_heads
import networks
from searches import PRESETS, v_mcts_decoder
from torch import Tensor

from fairseq_mcts.generators.joining import joined
from fairseq_mcts.search import Decoder, make_decoder

BATCH = 32
BARS = {"base": common.at_least(1.3)}
OTHER_BAR = common.at_least(1.2)
FILL_BAR = common.at_least(0.9)
Translations = dict[int, tuple[list[int], float]]  # tokens and score of each sentence


def decoders(options: argparse.Namespace) -> Iterator[tuple[str, Decoder[Any]]]:
    """By their names in the report."""
    for preset in PRESETS:
        yield f"V-MCTS ({preset})", v_mcts_decoder(preset, options.simulations)
    yield "greedy", make_decoder("beam", {"beam": 1})
    samples = {"samples": options.simulations, "temperature": 0.75}
    yield f"S+RV, {options.simulations} samples", make_decoder("sr", samples)


class Side:
    """One way to go through all sentences."""

    def __init__(
        self,
        model: Any,
        sources: Sequence[Tensor],
        batches: Sequence[Sequence[int]],
        decoder: Decoder[Any],
        options: argparse.Namespace,
        at_once: int | None,
    ) -> None:
        self.generator = networks.search_generator(model, decoder, dual_heads.limits(options))
        self.generator.at_once = at_once
        self._model = model
        self._batches = [
            (batch, networks.make_sample(model, [sources[one] for one in batch]))
            for batch in batches
        ]

    def run(self) -> Translations:
        found: Translations = {}
        for batch, sample in self._batches:
            results = self.generator.generate([self._model], sample)
            for number, [best, *_] in zip(batch, results, strict=True):
                found[number] = (best["tokens"].tolist(), float(best["score"]))
        return found

    @property
    def fill(self) -> float:
        """Of all runs so far."""
        timing = self.generator.statistics.timing
        return float(timing.network_rows / timing.network_calls / BATCH)


def measure(options: argparse.Namespace) -> Iterator[common.Comparison]:
    model, sources = dual_heads.load(options)
    numbers = sorted(range(len(sources)), key=lambda one: len(sources[one]))
    batches = [numbers[begin : begin + BATCH] for begin in range(0, len(numbers), BATCH)]
    together, at_once = joined(batches)
    longest_first = [batch[::-1] for batch in together]
    for name, decoder in decoders(options):
        sides = {
            "batches": Side(model, sources, batches, decoder, options, None),
            "joined": Side(model, sources, longest_first, decoder, options, at_once),
        }
        seconds = common.alternate({one: side.run for one, side in sides.items()}, options)
        found = [side.run() for side in sides.values()]
        fills = {f"fill, {one}": side.fill for one, side in sides.items()}
        yield common.Comparison(
            f"{name}, {len(sources)} sentences: batch by batch / joined",
            seconds["batches"] / seconds["joined"],
            BARS.get(options.size, OTHER_BAR),
            {**{f"{one} s": value for one, value in seconds.items()}, **fills},
            outputs_equal=found[0] == found[1],
        )
        if decoder.name != "sr":  # samples are many prefixes of a sentence
            yield common.Comparison(f"{name}: fill", fills["fill, joined"], FILL_BAR, fills)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    dual_heads.add_options(parser)
    parser.add_argument("--simulations", type=int, default=50, help="and samples")
    parser.set_defaults(sentences=256, repeats=2)
    options = dual_heads.parse(parser, arguments)
    report = common.Report("joining", options, dual_heads.settings(options))
    for comparison in measure(options):
        report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
