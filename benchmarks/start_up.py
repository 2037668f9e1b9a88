"""How much longer does fairseq-generate take to start with the plugin?

    python benchmarks/start_up.py [--size small|base] [--json FILE]

fairseq-generate translates one sentence by beam search, with a transformer of its own: without the
plugin, with it (fairseq's own generator still searches), and with it by a search of this project,
whose compiled kernels are loaded then. Whole commands, from start to end, least of all rounds; all
must give the same translation.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import common
import networks
from commands import Cost, add_options, alternate, cost, fairseq_generate, hypotheses
from relabelling import write_corpus, write_network

from fairseq_mcts.models.sizes import SIZES
from fairseq_mcts.register import register

BAR = 1.3
BEAM = 5
# fairseq's plain generator loads checkpoints only if told to trust them, by torch's own switch
TRUSTING = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
WITHOUT = "without the plugin"


def transformer(size: str) -> list[str]:
    """fairseq's own transformer, as deep and wide as the multi-query one of that size."""
    given = []
    for side in ("encoder", "decoder"):
        for name in ("layers", "embed_dim", "ffn_embed_dim"):
            given += [f"--{side}-{name.replace('_', '-')}", str(SIZES[size][f"{side}_{name}"])]
        given += [f"--{side}-attention-heads", "4", f"--{side}-normalize-before"]
    learned = ("--decoder-learned-pos", "--encoder-learned-pos")
    return ["--task", "translation", "--arch", "transformer", *learned, *given]


class Sides:
    """The three commands on one sentence."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        write_corpus(folder, options.size, 1, options.seed)
        checkpoint = folder / "model.pt"
        write_network(folder, options.seed, checkpoint, *transformer(options.size))
        lengths = ("--min-len", networks.MIN_LENGTH, "--max-len-b", networks.MAX_LENGTH)
        # fairseq alone would drop a last batch of fewer than eight sentences
        whole = ("--required-batch-size-multiple", 1)
        of_data = (folder, "--path", checkpoint, "--gen-subset", "train", "--cpu")
        self._given = (*of_data, *whole, *lengths)
        self._folder = folder
        self._environment = {"OMP_NUM_THREADS": str(options.threads)}

    def run(self, name: str, *given: object, plugin: bool = True) -> Cost:
        out = ("--results-path", self._folder / name)
        command = fairseq_generate(*self._given, *given, *out, plugin=plugin)
        return cost(command, {**self._environment, **({} if plugin else TRUSTING)})

    def translation(self, name: str) -> dict[int, str]:
        return hypotheses(self._folder / name, "train")


def measure(options: argparse.Namespace, folder: Path) -> Iterator[common.Comparison]:
    sides = Sides(folder, options)
    by_beam = ("--beam", BEAM)
    by_search = ("--search", "vgbs", "--vgbs-beam", BEAM, "--vgbs-alpha", 0)
    costs = alternate(
        {
            WITHOUT: partial(sides.run, WITHOUT, *by_beam, plugin=False),
            "beam": partial(sides.run, "beam", *by_beam),
            "search": partial(sides.run, "search", *by_search),
        },
        options.repeats,
        warm_up=options.warm_up,
    )
    seconds = {name: getattr(one, options.clock) for name, one in costs.items()}
    for name, how in (("beam", "fairseq's own beam search"), ("search", "a search of the plugin")):
        yield common.Comparison(
            f"one sentence with the plugin, {how} / without it",
            seconds[name] / seconds[WITHOUT],
            common.at_most(BAR),
            {"with s": seconds[name], "without s": seconds[WITHOUT]},
            outputs_equal=sides.translation(name) == sides.translation(WITHOUT),
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    add_options(parser)
    options = common.parse(parser, arguments)
    report = common.Report("start-up", options, networks.settings())
    register()
    report.measure_in_a_folder(measure)
    return report


if __name__ == "__main__":
    main()
