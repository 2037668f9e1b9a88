"""A dual head and its sentences: random, or with --path and --data a trained one on real text.

How many prefixes a search meets anew depends on how sure its policy is, so that counts, and times
that depend on them, are best taken on a trained model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
import networks
import trained
from torch import Tensor


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--path", type=Path, help="a trained dual head instead of a random one")
    parser.add_argument("--data", type=Path, help="binarised data for it")
    parser.add_argument("--subset", default="test", help="of the data (default: %(default)s)")
    parser.add_argument(
        "--max-len",
        type=int,
        default=100,
        help="tokens of a trained model's translations at most (default: %(default)s)",
    )


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """`common.parse` with the options above."""
    options = common.parse(parser, arguments)
    if (options.path is None) != (options.data is None):
        parser.error("--path and --data: give both or neither")
    return options


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """What a report should say of the network, beside the options."""
    return networks.settings() if options.path is None else {}


def load(options: argparse.Namespace) -> tuple[Any, list[Tensor]]:
    """The network, and its sources, the longest first; both where they are to be computed."""
    if options.path is None:
        model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
        sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    else:
        found = trained.load(options.path, options.data, options.subset, options.sentences)
        model = found.model
        sources = sorted((row["source"] for row in found.rows), key=len, reverse=True)
    return model.to(options.device), [source.to(options.device) for source in sources]


def limits(options: argparse.Namespace) -> networks.Limits:
    """Random networks need to be told what a usual length is."""
    return networks.limits() if options.path is None else networks.Limits(max_len_b=options.max_len)
