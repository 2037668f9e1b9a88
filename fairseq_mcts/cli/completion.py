"""What a shell has to know to complete commands and flags: a script that calls no Python.

It is made once, from the parsers of all commands with all options of fairseq and of the decoders.
So completing is as fast as the shell, however long fairseq takes to import.
"""

import argparse
import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import shtab

from fairseq_mcts.command_help import COMMANDS, PROGRAM
from fairseq_mcts.register import register

_FILE_WORDS = ("FILE", "PATH", "FOLDER", "DIR", "DATA", "OUT.html", "RUN")


def completion(shell: str) -> str:
    """The script for a shell: of `fairseq-mcts`, and for bash of the commands' own names too."""
    with _quiet():
        return _script(shell)


@contextmanager
def _quiet() -> Iterator[None]:
    """fairseq tells at its import what else could be installed: not into a script."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _script(shell: str) -> str:
    register()
    together = argparse.ArgumentParser(prog=PROGRAM)
    together.add_argument("--version", action="store_true", help="print the version")
    together.add_argument("--debug", action="store_true", help="errors come with their traceback")
    commands = together.add_subparsers()
    scripts = []
    for name, command in COMMANDS.items():
        parser = _parser_of(name)
        commands.add_parser(
            name, help=command.summary, parents=[parser], add_help=False, conflict_handler="resolve"
        )
        if shell == "bash":
            scripts.append(shtab.complete(parser, shell))
    script = shtab.complete(together, shell)
    # zsh loads one command from a file
    return script if shell == "zsh" else "\n".join([script, *scripts])


def _parser_of(name: str) -> argparse.ArgumentParser:
    """All options of a command, those too that fairseq adds late; files are completed as such."""
    parser: argparse.ArgumentParser = importlib.import_module(
        f"fairseq_mcts.cli.{name}"
    ).complete_parser()
    for action in parser._actions:
        if action.choices is None and action.nargs != 0 and _takes_file(action):
            setattr(action, "complete", shtab.FILE)  # noqa: B010 - shtab's own way
        action.help = None if action.help is None else " ".join(action.help.split())
    return parser


def _takes_file(action: argparse.Action) -> bool:
    shown = str(action.metavar or action.dest)
    return any(word in shown.upper() for word in _FILE_WORDS)
