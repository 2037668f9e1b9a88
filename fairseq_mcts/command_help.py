"""One style for all commands: what `--help` shows, how a wrong use ends, and what all take."""

import argparse
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

DEBUG = "FAIRSEQ_MCTS_DEBUG"
"""Environment variable, set by `--debug`: errors come with their traceback."""


class Command(NamedTuple):
    """A command, which `fairseq_mcts.cli.NAME` does."""

    summary: str
    usage: str  # what stands behind its name
    examples: tuple[str, ...]  # the same, of commands that work


_TEXT = "--bpe sentencepiece --sentencepiece-model sp.model"
COMMANDS = {
    "generate": Command(
        "translate a corpus in chunks; if interrupted, run it again and it continues",
        "DATA --path FILE --out FOLDER [OPTION …]",
        (
            f"data-bin --path value.pt --search mcts --search-budget 50 {_TEXT} --out translated",
            f"data-bin --path policy.pt --input news.en.gz {_TEXT} --out news --plain-text "
            "--workers 2",
        ),
    ),
    "relabel": Command(
        "translate sources and score the translations: the data of values",
        "DATA --path FILE --metric NAME --out FOLDER [OPTION …]",
        (
            "data-bin --path policy.pt --metric mlbertscore:model=FOLDER --method completions "
            f"--samples 2 {_TEXT} --out scored",
        ),
    ),
    "score": Command(
        "compare translations by metrics, with significance",
        "[NAME=]FILE … [OPTION …]",
        (
            "beam/generate-test.txt mcts/generate-test.txt --metrics bleu chrf",
            "beam=beam.de mcts=mcts.de --references test.de --sources test.en --encoder FOLDER "
            "--optimised mcts=mlbertscore",
        ),
    ),
    "sweep": Command(
        "find the settings of a decoder on validation data",
        "DATA --path FILE --sweep NAME=VALUE,… --sweep-metric NAME --sweep-out FOLDER [OPTION …]",
        (
            "data-bin --gen-subset valid --path policy.pt --value-path value.pt --search vgbs "
            f"--sweep vgbs-alpha=0.3,0.5,0.7,0.9 --sweep-metric chrf {_TEXT} --sweep-out swept",
        ),
    ),
    "report": Command(
        "write one page about decodings, with the sentences behind every figure",
        "OUT.html [NAME=]RUN … [OPTION …]",
        (
            "page.html beam mcts --metric bleu --metric chrf "
            "--metric mlbertscore:model=FOLDER --optimised mlbertscore",
        ),
    ),
    "explore": Command(
        "look at searches token by token in a browser",
        "DATA --path FILE [OPTION …]",
        (f"data-bin --path value.pt {_TEXT} --search-metric mlbertscore:model=FOLDER --cpu",),
    ),
    "plan": Command(
        "measure for a minute what a large corpus will take",
        "DATA --path FILE [OPTION …]",
        (
            f"data-bin --path value.pt --search mcts --search-budget 50 {_TEXT} "
            "--sentences 1e6,41e6 --workers 1,2",
        ),
    ),
}
PROGRAM = "fairseq-mcts"
_MOST_ON_A_LINE = 96
#: they print and end
_WITHOUT_DEFAULT = (argparse._HelpAction, argparse._VersionAction)
_MISSING = "???"  # the default of fairseq's options that have none
_UNKNOWN = re.compile(r"unrecognized arguments: (--[\w-]+)")


def in_one_style(
    parser: argparse.ArgumentParser, name: str, own: Sequence[Any] = ()
) -> argparse.ArgumentParser:
    """The parser of a command as all are: usage in a line, the groups `own` first, examples last.

    Adds --version and --debug.
    """
    command = COMMANDS[name]
    parser.usage = f"{PROGRAM} {name} {command.usage}"
    parser.epilog = "\n".join(
        [
            "examples:" if len(command.examples) > 1 else "example:",
            *(_folded(f"{PROGRAM} {name} {example}") for example in command.examples),
        ]
    )
    parser.formatter_class = HelpFormatter
    if parser.description is not None:
        parser.description = _filled(parser.description)
    parser.add_argument("--version", action="version", version=package_version())
    parser.add_argument(
        "--debug", action=_ShowTracebacks, nargs=0, help="errors come with their traceback"
    )
    for group in reversed(own):
        parser._action_groups.remove(group)
        parser._action_groups.insert(0, group)
    return refusing_in_one_line(parser)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Breaks no flag at its hyphens: what is copied from the help must work."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def package_version() -> str:
    """Of fairseq_mcts, which is above this module and imports it."""
    version: str = import_module("fairseq_mcts").__version__
    return version


def refusing_in_one_line(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser, which says in one line what is wrong, and gives a hint."""
    setattr(parser, "error", lambda message: _refuse(parser, message))  # noqa: B010 - a method
    return parser


def show_defaults(parser: argparse.ArgumentParser) -> None:
    """Lets the help of each option say its default or that it is required, unless it does."""
    for action in parser._actions:
        if action.help in (None, argparse.SUPPRESS) or not action.option_strings:
            continue
        if "default" in str(action.help) or isinstance(action, _WITHOUT_DEFAULT):
            continue
        is_needed = action.required or action.default == _MISSING
        action.help += " (required)" if is_needed else f" (default: {_default(action)})"


def _default(action: argparse.Action) -> str:
    """As a reader understands it; fairseq has some that refer to other options."""
    if action.nargs == 0:  # a switch: what it is without the flag
        return "on" if action.default else "off"
    if action.default is None:
        return "none"
    shown = str(action.default)
    return f"that of {shown[2:-1]}" if shown.startswith("${") else shown.replace("%", "%%")


class _ShowTracebacks(argparse.Action):
    """Takes effect at once: later options may be wrong. Workers inherit it."""

    def __call__(self, *_: Any) -> None:
        os.environ[DEBUG] = "1"


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    unknown = _UNKNOWN.match(message)
    flags = [flag for action in parser._actions for flag in action.option_strings]
    close = difflib.get_close_matches(unknown[1], flags, n=1) if unknown else []
    hint = f"did you mean {close[0]}?" if close else f"{parser.prog} --help lists all options"
    print(f"{parser.prog}: error: {message} ({hint})", file=sys.stderr)
    raise SystemExit(2)


def _filled(text: str) -> str:
    """A description in lines that a terminal holds; one that is given in lines stays."""
    return text if "\n" in text else "\n".join(textwrap.wrap(text, _MOST_ON_A_LINE))


def _folded(command: str) -> str:
    """A command in lines that end in a backslash, broken before flags."""
    lines, line = [], " "
    for part in re.split(r" (?=--)", command):
        if len(line) + len(part) > _MOST_ON_A_LINE - 3 and line.strip():
            lines.append(line + " \\")
            line = "     "
        line += f" {part}"
    return "\n".join([*lines, line])
