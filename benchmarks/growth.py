"""How does the cost of V-MCTS grow: with budget, length, batch, vocabulary, number of sentences?

    python benchmarks/growth.py [--size small|base] [--json FILE] [--plot FILE.png]

Sweeps around 50 simulations, 20 tokens, 16 sentences in a batch and the usual vocabulary, each over
one of them. Every sentence is forced to the same length. The last sweep decodes corpora as
fairseq-mcts-generate does, in joined batches of 32. Seconds are fitted by a line, whose slope is
stated (for the batch: beyond four rows, below which networks are computed in padded batches).
"worst" is the greatest ratio of a point to the line: a cliff would show there. Memory is that of
keys, values and trees at its peak, which must not grow with the corpus.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import common
import networks
import numpy as np
from searches import v_mcts_decoder
from torch import Tensor

from fairseq_mcts.generators.joining import joined
from fairseq_mcts.generators.search_generator import SearchGenerator

USUAL = {"simulations": 50, "length": 20, "sentences": 16, "vocabulary": 0}
UNITS = {
    "simulations": "simulation",
    "length": "token",
    "sentences": "sentence",
    "vocabulary": "word",
    "corpus": "sentence",
}
WORST_BAR = 1.25
FLAT_BAR = 1.1  # of memory, over the number of sentences
BATCH = 32  # of a corpus


class Growth:
    """V-MCTS on one network, or on one of each vocabulary, at varying cost."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    @cache  # noqa: B019 - lives as long as the process
    def model(self, vocabulary: int) -> Any:
        family, size = "dual_head_multiquery_transformer", self.options.size
        given = {"vocabulary": vocabulary} if vocabulary else {}
        model = networks.multiquery(family, size, self.options.seed, **given)
        return model.to(self.options.device)

    def point(
        self, simulations: int, length: int, sentences: int, vocabulary: int
    ) -> dict[str, Any]:
        model = self.model(vocabulary)
        sample = networks.make_sample(model, self._sources(model, sentences))
        generator = self._generator(model, simulations, length)
        found = self._measured(generator, lambda: generator.generate([model], sample))
        words = len(model.decoder.dictionary)
        given = {"simulations": simulations, "length": length, "sentences": sentences}
        return {**given, "vocabulary": words, **found}

    def corpus(self, corpus: int) -> dict[str, Any]:
        """So many sentences, whatever a batch holds."""
        model = self.model(0)
        sources = self._sources(model, corpus)
        batches = [range(begin, min(begin + BATCH, corpus)) for begin in range(0, corpus, BATCH)]
        together, at_once = joined(batches)
        generator = self._generator(model, USUAL["simulations"], USUAL["length"])
        generator.at_once = at_once

        def decode() -> None:
            for batch in together:
                generator.translate([sources[one] for one in batch])

        return {"corpus": corpus, **self._measured(generator, decode)}

    def _sources(self, model: Any, count: int) -> list[Tensor]:
        return networks.make_sources(model.encoder.dictionary, count, self.options.seed)

    def _generator(self, model: Any, simulations: int, length: int) -> SearchGenerator:
        limits = networks.limits(min_len=length, max_len_b=length)
        return networks.search_generator(model, v_mcts_decoder("privileged", simulations), limits)

    def _measured(self, generator: SearchGenerator, work: Callable[[], object]) -> dict[str, Any]:
        seconds = common.alternate({"search": work}, self.options)["search"]
        counted = generator.statistics
        return {
            "seconds": seconds,
            "memory MiB": counted.peak_bytes / 2**20,
            "made / charged": counted.made / counted.charged,
            "rows / call": counted.timing.network_rows / counted.timing.network_calls,
        }


def fit(amounts: Sequence[float], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Slope and offset of the line with the least relative error, and the worst point / line."""
    x, y = np.asarray(amounts, float), np.asarray(seconds, float)
    if len(x) < 2:
        raise ValueError(f"a line needs two points, there are {len(x)}")
    slope, offset = np.polyfit(x, y, 1, w=1 / y)
    return float(slope), float(offset), float((y / (slope * x + offset)).max())


def sweep(growth: Growth, report: common.Report, name: str, amounts: Sequence[int]) -> None:
    points = []
    for amount in amounts:
        is_corpus = name == "corpus"
        point = growth.corpus(amount) if is_corpus else growth.point(**{**USUAL, name: amount})
        report.add_point(sweep=name, **point)
        points.append(point)
    if name == "corpus":
        memory = [one["memory MiB"] for one in points]
        report.add(
            common.Comparison(
                "memory over the number of sentences: most / least",
                max(memory) / min(memory),
                common.at_most(FLAT_BAR),
                {"most MiB": max(memory), "least MiB": min(memory)},
            )
        )
    slope, offset, worst = fit([one[name] for one in points], [one["seconds"] for one in points])
    memory, _, _ = fit([one[name] for one in points], [one["memory MiB"] for one in points])
    report.add(
        common.Comparison(
            f"cost over {name}: worst point / line",
            worst,
            common.at_most(WORST_BAR),
            {
                f"s per {UNITS[name]}": slope,
                "s offset": offset,
                f"MiB per {UNITS[name]}": memory,
            },
        )
    )


def plot(points: Sequence[dict[str, Any]], path: Path) -> None:
    """Seconds and memory over each of the sweeps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [name for name in UNITS if any(point["sweep"] == name for point in points)]
    figure, rows = pyplot.subplots(2, len(names), figsize=(3 * len(names), 5), squeeze=False)
    for column, name in enumerate(names):
        own = [point for point in points if point["sweep"] == name]
        for row, quantity in enumerate(("seconds", "memory MiB")):
            axes = rows[row][column]
            axes.plot([one[name] for one in own], [one[quantity] for one in own], marker="o")
            axes.set_xlabel(name)
            axes.set_ylabel(quantity)
            axes.set_ylim(bottom=0)
    common.save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument(
        "--simulations", type=int, nargs="*", default=[1, 5, 10, 25, 50, 100, 200, 300]
    )
    parser.add_argument("--length", type=int, nargs="*", default=[5, 10, 20, 40, 80])
    parser.add_argument("--sentences", type=int, nargs="*", default=[4, 8, 16, 32, 64])
    parser.add_argument(
        "--vocabulary", type=int, nargs="*", default=[8_000, 16_000, 32_000, 64_000]
    )
    parser.add_argument("--corpus", type=int, nargs="*", default=[256, 512, 1024])
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of the sweeps")
    parser.set_defaults(repeats=1)
    options = common.parse(parser, arguments)
    report = common.Report("growth", options, {**networks.settings(), "lengths": "forced"})
    growth = Growth(options)
    for name in UNITS:
        amounts = getattr(options, name)
        if len(amounts) == 1:
            parser.error(f"--{name} {amounts[0]}: a line needs two points")
        if amounts:
            sweep(growth, report, name, amounts)
    if options.plot is not None:
        plot(report.series, options.plot)
    report.write()
    return report


if __name__ == "__main__":
    main()
