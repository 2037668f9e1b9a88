"""Options of the demo that the ablation, which goes on in its work folder, has as well."""

import argparse
import os
from dataclasses import fields
from pathlib import Path

from examples.demo.plan import Sizes
from fairseq_mcts.command_help import HelpFormatter


def make_shared_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The options that say where to work, how many stages run at once and how large the data is."""
    parser = argparse.ArgumentParser(
        prog=program, description=description, formatter_class=HelpFormatter
    )
    add = parser.add_argument
    add("--work", type=Path, default=Path("work"), help="folder for all it makes")
    sizes = {
        "train_pairs": "sentence pairs to train on",
        "held_out_pairs": "pairs of the validation set, and of the test set",
        "pieces": "subwords of the vocabulary",
        "words": "words of each kind (nouns, verbs, …), the most frequent ones",
    }
    for name, what in sizes.items():
        default = getattr(Sizes, name)
        add(f"--{name.replace('_', '-')}", type=int, default=default, metavar="N", help=what)
    add("--seed", type=int, default=1, help="of data, training and sampling")
    processes = os.cpu_count() or 1
    add("--at-once", type=int, default=processes, metavar="N", help="stages that run side by side")
    return parser


def sizes_of(args: argparse.Namespace) -> Sizes:
    """Those that are options; the others keep their defaults."""
    given = {field.name for field in fields(Sizes)} & vars(args).keys()
    return Sizes(**{name: getattr(args, name) for name in given})
