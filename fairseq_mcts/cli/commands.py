"""`fairseq-mcts COMMAND …`: all commands under one name; each has a name of its own, too."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import fairseq_mcts
from fairseq_mcts.command_help import (
    COMMANDS,
    DEBUG,
    PROGRAM,
    HelpFormatter,
    refusing_in_one_line,
)

SHELLS = ("bash", "zsh")


def make_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:{width}}  {one.summary}" for name, one in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [--debug] COMMAND …",
        description="Translation that decodes for a metric. Training and decoding are fairseq's "
        "own\ncommands with --user-dir; these are beside them.",
        epilog=f"commands:\n{listed}\n\n{PROGRAM} COMMAND --help shows options and examples; "
        f"`python -m fairseq_mcts` explains\nwhat the plugin adds to fairseq-train and "
        f"fairseq-generate.\n\nexample:\n  {PROGRAM} score {COMMANDS['score'].examples[0]}",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND", help="one of these")
    parser.add_argument("--version", action="version", version=fairseq_mcts.__version__)
    parser.add_argument("--debug", action="store_true", help="errors come with their traceback")
    parser.add_argument(
        "--print-completion",
        choices=SHELLS,
        metavar="SHELL",
        help=f"print what makes {' or '.join(SHELLS)} complete commands and flags, and end",
    )
    return refusing_in_one_line(parser)


def main(arguments: Sequence[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else list(arguments)
    # everything behind the command's name is the command's
    own = next((place for place, one in enumerate(given) if one in COMMANDS), len(given))
    parser = make_parser()
    shell = _asked_for_completion(given)
    if shell is not None:
        from fairseq_mcts.cli.completion import completion

        print(completion(shell))
        return
    options = parser.parse_args(given[: own + 1])
    if options.debug:
        os.environ[DEBUG] = "1"  # for its workers, too
    importlib.import_module(f"fairseq_mcts.cli.{options.command}").main(given[own + 1 :])


def _asked_for_completion(given: Sequence[str]) -> str | None:
    """The shell, if that is all that was asked."""
    flag, _, shell = " ".join(given).replace("=", " ").partition(" ")
    return shell if flag == "--print-completion" and shell in SHELLS else None


if __name__ == "__main__":
    main()
