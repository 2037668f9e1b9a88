"""Options of the demo that the ablation, which goes on in its work folder, has as well."""

import argparse
import os
from dataclasses import fields
from pathlib import Path

from examples.demo.plan import Sizes


def make_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The options that say where to work, how many stages run at once and how large the data is."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--work", type=Path, default=Path("work"), help="folder for all it makes")
    parser.add_argument("--train-pairs", type=int, default=Sizes.train_pairs)
    parser.add_argument("--held-out-pairs", type=int, default=Sizes.held_out_pairs)
    parser.add_argument("--pieces", type=int, default=Sizes.pieces, help="size of the vocabulary")
    parser.add_argument("--words", type=int, default=Sizes.words, help="of a kind, of the language")
    parser.add_argument("--seed", type=int, default=1, help="of data, training and sampling")
    parser.add_argument(
        "--at-once", type=int, default=os.cpu_count() or 1, help="stages that run side by side"
    )
    return parser


def sizes_of(args: argparse.Namespace) -> Sizes:
    """Those that are options; the others keep their defaults."""
    given = {field.name for field in fields(Sizes)} & vars(args).keys()
    return Sizes(**{name: getattr(args, name) for name in given})
