"""How does the cost of V-MCTS grow with the budget, with the length of sentences, with the batch?

    python benchmarks/growth.py [--size small|base] [--json FILE] [--plot FILE.png]

Three sweeps around 50 simulations, 20 tokens and 16 sentences, each over one of the three. Every
sentence is forced to the same length. Seconds are fitted by a line, whose slope is stated (for the
batch: beyond four rows, below which networks are computed in padded batches). "worst" is the
greatest ratio of a point to the line: a cliff would show there. Memory is that of keys, values and
trees at its peak.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
import networks
import numpy as np
from searches import v_mcts_decoder

USUAL = {"simulations": 50, "length": 20, "sentences": 16}
UNITS = {"simulations": "simulation", "length": "token", "sentences": "sentence"}
WORST_BAR = 1.25


class Growth:
    """V-MCTS on one network at varying cost."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        family = "dual_head_multiquery_transformer"
        self.model = networks.multiquery(family, options.size, options.seed)

    def point(self, simulations: int, length: int, sentences: int) -> dict[str, Any]:
        sources = networks.make_sources(self.model.encoder.dictionary, sentences, self.options.seed)
        sample = networks.make_sample(self.model, sources)
        generator = networks.search_generator(
            self.model,
            v_mcts_decoder("privileged", simulations),
            networks.limits(min_len=length, max_len_b=length),
        )
        work = {"search": lambda: generator.generate([self.model], sample)}
        seconds = common.alternate(work, self.options)["search"]
        counted = generator.statistics
        return {
            **{"simulations": simulations, "length": length, "sentences": sentences},
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
        point = growth.point(**{**USUAL, name: amount})
        report.add_point(sweep=name, **point)
        points.append(point)
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
    """Seconds and memory over each of the three."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, rows = pyplot.subplots(2, len(USUAL), figsize=(10, 5), squeeze=False)
    for column, name in enumerate(USUAL):
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
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of the sweeps")
    parser.set_defaults(repeats=1)
    options = common.parse(parser, arguments)
    report = common.Report("growth", options, {**networks.settings(), "lengths": "forced"})
    growth = Growth(options)
    for name in USUAL:
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
