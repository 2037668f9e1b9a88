"""What V-MCTS costs beside beam search by fairseq itself: both commands, from start to end.

    python benchmarks/headline.py --path value.pt --data data-bin [--size small|tiny] [--json FILE]
    python benchmarks/headline.py [--size small|base] [--sentences 200]

fairseq-mcts-generate with 50 simulations over `fairseq-generate --beam 5`, whose generator is
fairseq's own, on the same checkpoint and all sentences of --subset. With --path it is a trained
model, and --size only says which bar holds: "tiny" is the demo's. Least times of all rounds;
processor time unless told otherwise.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import common
import networks
from commands import (
    Cost,
    add_options,
    alternate,
    cost,
    fairseq_generate,
    hypotheses,
    module,
)
from relabelling import write_checkpoint, write_corpus
from searches import PRESETS

from fairseq_mcts.register import register

BARS = {"small": 1.0, "tiny": 1.3}
BEAM = "fairseq's beam"


class Commands:
    """The commands on one checkpoint and one split."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._folder = folder
        self._options = options
        data, path, subset = options.data, options.path, options.subset
        lengths: tuple[object, ...] = ("--max-len-b", options.max_len)
        if path is None:
            data, path, subset = folder, folder / "model.pt", "train"
            write_corpus(data, options.size, options.sentences, options.seed)
            family = "dual_head_multiquery_transformer"
            write_checkpoint(data, options.size, options.seed, path, family)
            lengths = ("--max-len-b", networks.MAX_LENGTH, "--min-len", networks.MIN_LENGTH)
        self._subset = subset
        of_data = (data, "--path", path, "--gen-subset", subset, "--cpu")
        self._given = (*of_data, "--batch-size", options.batch_size, *lengths)

    def beam(self) -> Cost:
        given = ("--beam", self._options.beam, "--results-path", self._cleared(BEAM))
        return self._cost(fairseq_generate(*self._given, *given))

    def search(self, preset: str) -> Cost:
        budget = ("--search-budget", self._options.simulations, "--search-preset", preset)
        given = ("--search", "mcts", *budget, "--out", self._cleared(preset))
        return self._cost(module("fairseq_mcts.cli.generate", *self._given, *given))

    def translated(self, name: str) -> set[int]:
        """The sentences that a command has translated."""
        return set(hypotheses(self._folder / name, self._subset))

    def _cleared(self, name: str) -> Path:
        shutil.rmtree(self._folder / name, ignore_errors=True)
        return self._folder / name

    def _cost(self, command: list[str]) -> Cost:
        return cost(command, {"OMP_NUM_THREADS": str(self._options.threads)})


def measure(options: argparse.Namespace, folder: Path) -> Iterator[common.Comparison]:
    commands = Commands(options, folder)
    searches = {preset: partial(commands.search, preset) for preset in PRESETS}
    costs = alternate({BEAM: commands.beam, **searches}, options.repeats, warm_up=options.warm_up)
    seconds = {name: getattr(one, options.clock) for name, one in costs.items()}
    wanted = commands.translated(BEAM)
    for preset in PRESETS:
        if commands.translated(preset) != wanted:
            raise RuntimeError(f"{preset}: other sentences were translated than by beam search")
        yield common.Comparison(
            f"V-MCTS ({preset}, {options.simulations} simulations) / fairseq-generate --beam "
            f"{options.beam}, {len(wanted)} sentences",
            seconds[preset] / seconds[BEAM],
            common.at_most(BARS.get(options.size)),
            {"V-MCTS s": seconds[preset], "beam s": seconds[BEAM]},
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--path", type=Path, help="a trained dual head instead of a random one")
    parser.add_argument("--data", type=Path, help="binarised data for it")
    parser.add_argument("--subset", default="test", help="of the data (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=200, help="of a random network")
    parser.add_argument("--max-len", type=int, default=100, help="tokens of a translation at most")
    parser.add_argument("--batch-size", type=int, default=32, help="of both (default: %(default)s)")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=50)
    add_options(parser)
    parser.set_defaults(repeats=2)
    options = common.parse(parser, arguments)
    if (options.path is None) != (options.data is None):
        parser.error("--path and --data: give both or neither")
    settings = networks.settings() if options.path is None else {}
    report = common.Report("headline", options, settings)
    register()
    report.measure_in_a_folder(measure)
    return report


if __name__ == "__main__":
    main()
