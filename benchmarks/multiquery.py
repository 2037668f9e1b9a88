"""Where does multi-query attention pay on a CPU? Decoding steps of two networks of equal size.

    python benchmarks/multiquery.py [--size small|base] [--json FILE] [--plot FILE.png]

One side has this project's multi-query attention, the other fairseq's multi-head attention, with a
feed-forward block so wide that both decoders have the same number of parameters. A step feeds one
token to each of `rows` prefixes of `length` tokens, through the decoder stepper; no two prefixes
share an ancestor, and four of them share a source. Outputs can't be compared: the networks differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import common
import networks
import numpy as np
import torch

from fairseq_mcts.decoding.member import Member
from fairseq_mcts.decoding.step_batch import StepBatch, make_step_batch
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.models.sizes import SIZES
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.tree import NO_NODE, NO_TOKEN, allocate, new_tree

ROWS_PER_SENTENCE = 4
SOURCE_SEED = 7


def pair_of_models(size: str, seed: int) -> dict[str, Any]:
    """Both networks; the multi-head one gets the feed-forward width that makes up the count."""
    multi_query = networks.multiquery("multiquery_transformer", size, seed)
    width = int(SIZES[size]["decoder_embed_dim"])
    layers = int(SIZES[size]["decoder_layers"])
    ffn = int(SIZES[size]["decoder_ffn_embed_dim"])
    first = networks.multihead(size, seed)
    lacking = count_parameters(multi_query) - count_parameters(first)
    # one more unit in every layer: a row of fc1, its bias and a column of fc2
    ffn += round(lacking / (layers * (2 * width + 1)))
    return {
        "multi-query": multi_query,
        "multi-head": networks.multihead(size, seed, decoder_ffn_embed_dim=ffn),
    }


def count_parameters(model: Any) -> int:
    """Of the decoder."""
    return sum(parameter.numel() for parameter in model.decoder.parameters())


class StepsOf:
    """A network that has `rows` prefixes of `length` tokens to extend."""

    def __init__(self, model: Any, rows: int, length: int) -> None:
        dictionary = model.decoder.dictionary
        vocabulary = Vocabulary(dictionary.eos(), dictionary.pad(), (dictionary.pad(),))
        self.member = Member(model, vocabulary, policy=True, value=False)
        count = -(-rows // ROWS_PER_SENTENCE)
        sources = networks.make_sources(model.encoder.dictionary, count, SOURCE_SEED)
        with torch.no_grad():
            self.member.stepper.begin(self.member.encode(sources))
        self.slots = rows * (length + 1)
        self.member.stepper.reserve(self.slots)
        # what a search would have written: untouched memory is faster to read than any other
        for rows_of_layer in self.member.stepper.pool.tensors:
            rows_of_layer.normal_()
        self.batch = chains(rows, length, dictionary.eos())

    @property
    def cache_bytes(self) -> int:
        return self.slots * self.member.stepper.bytes_per_slot

    @torch.no_grad()
    def step(self) -> None:
        """The decoder without its output layer, which is the same on both sides."""
        self.member.stepper.step(None, self.batch)  # a transformer's stepper reads no tree


def chains(rows: int, length: int, eos: int) -> StepBatch:
    """The last prefixes of `rows` chains of `length` tokens each."""
    tree = new_tree(rows * (length + 1), num_actions=0)
    last = np.zeros(rows, np.int32)
    for row in range(rows):
        sentence = row // ROWS_PER_SENTENCE
        last[row] = allocate(tree, sentence, NO_NODE, 0, NO_TOKEN, 0.0)
        for position in range(length):
            token = networks.SPECIAL_SYMBOLS + position
            last[row] = allocate(tree, sentence, last[row], 0, token, 0.0)
    rules = make_constraints(-(-rows // ROWS_PER_SENTENCE), eos=eos, max_len=length + 1)
    requests = rules.requests(tree, last)
    return make_step_batch(tree, requests, eos, torch.device("cpu"), torch.float32)


def repeated(work: Callable[[], None], times: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            work()

    return run


def measure(
    options: argparse.Namespace, models: dict[str, Any], rows: int, length: int
) -> dict[str, Any]:
    sides = {name: StepsOf(model, rows, length) for name, model in models.items()}
    work = {name: repeated(side.step, options.steps) for name, side in sides.items()}
    seconds = common.alternate(work, options)
    point: dict[str, Any] = {"rows": rows, "length": length}
    for name, side in sides.items():
        point[f"{name} steps/s"] = rows * options.steps / seconds[name]
        point[f"{name} cache MiB"] = side.cache_bytes / 2**20
    point["ratio"] = seconds["multi-head"] / seconds["multi-query"]
    return point


def plot(points: Sequence[dict[str, Any]], size: str, path: Path) -> None:
    """How many times faster, over the length, one line a number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for rows in dict.fromkeys(point["rows"] for point in points):
        own = [point for point in points if point["rows"] == rows]
        lengths, ratios = [one["length"] for one in own], [one["ratio"] for one in own]
        axes.plot(lengths, ratios, marker="o", label=f"{rows} rows")
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("length of the prefixes in tokens")
    axes.set_ylabel("steps per second, multi-query / multi-head")
    axes.set_title(f"Decoder steps on a CPU, size {size}, equal parameters")
    axes.legend()
    common.save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--lengths", type=int, nargs="+", default=[8, 16, 32, 64, 120])
    parser.add_argument("--steps", type=int, default=5, help="in one measured turn")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of the ratios")
    options = common.parse(parser, arguments)
    most = networks.MAX_POSITIONS - 1
    if max(options.lengths) > most:
        parser.error(f"--lengths {max(options.lengths)}: the networks have positions up to {most}")
    models = pair_of_models(options.size, options.seed)
    counts = {name: count_parameters(model) for name, model in models.items()}
    settings = {"parameters of the decoders": counts, "rows per source": ROWS_PER_SENTENCE}
    report = common.Report("multi-query", options, settings)
    for rows in options.rows:
        for length in options.lengths:
            report.add_point(**measure(options, models, rows, length))
    for point in (report.series[0], report.series[-1]):
        report.add(
            common.Comparison(
                f"steps/s multi-query / multi-head, {point['rows']} rows of {point['length']}",
                point["ratio"],
                None,
                {name: one for name, one in point.items() if name.startswith("multi")},
            )
        )
    if options.plot is not None:
        plot(report.series, options.size, options.plot)
    report.write()
    return report


if __name__ == "__main__":
    main()
