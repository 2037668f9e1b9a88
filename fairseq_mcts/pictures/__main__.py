"""Redraws trees that --search-trees has saved, with more or fewer branches or in another format."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fairseq_mcts.pictures.drawing import FORMATS, draw_tree
from fairseq_mcts.pictures.pruning import DEFAULT_DEPTH, DEFAULT_MAX_NODES, Pruning
from fairseq_mcts.pictures.tree_file import load_tree


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fairseq_mcts.pictures", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json", help="saved trees")
    count = partial(parser.add_argument, type=_at_least_one, metavar="N")
    count(
        "--max-nodes",
        default=DEFAULT_MAX_NODES,
        help="show the most visited nodes, at most N of them, equally visited ones all or none; "
        "and the chosen path (default: %(default)s)",
    )
    count(
        "--min-visits", help="instead: show the nodes with at least N visits, and the chosen path"
    )
    count(
        "--depth",
        default=DEFAULT_DEPTH,
        help="show at most N tokens below the root (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE_OR_FOLDER",
        help=f"the picture ({', '.join(FORMATS)}), or a folder for the pictures; default: an SVG "
        "beside each file",
    )
    return parser


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number ≥ 1: {text}")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        rule = Pruning(options.max_nodes, options.min_visits, options.depth)
        for file, picture in zip(options.files, _pictures(options.files, options.out), strict=True):
            draw_tree(load_tree(file), picture, rule)
            print(picture)
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


def _pictures(files: Sequence[Path], out: Path | None) -> list[Path]:
    """Where the picture of each file goes."""
    if out is None:
        return [file.with_suffix(".svg") for file in files]
    if out.is_dir():
        return [out / f"{file.stem}.svg" for file in files]
    if out.suffix not in FORMATS:
        raise ValueError(f"--out {out}: neither a folder nor a name that ends in one of {FORMATS}")
    if len(files) > 1:
        raise ValueError(f"--out {out}: one picture for {len(files)} trees; give a folder")
    return [out]


if __name__ == "__main__":
    main()
