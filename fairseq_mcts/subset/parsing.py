"""Command lines of commands that take all options of fairseq-generate."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any


def generation_parser(program: str, description: str) -> argparse.ArgumentParser:
    """A parser of all options of fairseq-generate, for others to be added."""
    from fairseq import options

    parser: argparse.ArgumentParser = options.get_generation_parser(default_task="translation_mcts")
    parser.prog = program
    parser.description = description
    return parser


def parse(
    make_parser: Callable[[], argparse.ArgumentParser], arguments: Sequence[str]
) -> tuple[argparse.Namespace, Any]:
    """The options, and fairseq's configuration of them."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    # fairseq adds to a parser what the arguments ask for: each parsing takes a new one
    parsed = options.parse_args_and_arch(make_parser(), list(arguments))
    return parsed, convert_namespace_to_omegaconf(parsed)
