"""`fairseq-mcts COMMAND …`: all commands under one name; each has a name of its own, too."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

import fairseq_mcts
from fairseq_mcts.cli.errors import DEBUG


class Command(NamedTuple):
    """A command, which `fairseq_mcts.cli.NAME` does."""

    summary: str
    example: str  # what stands behind its name


COMMANDS = {
    "generate": Command(
        "translate a corpus in chunks: killed, the same command goes on",
        "data-bin --path model.pt --search-settings swept/best.json --out translated",
    ),
    "relabel": Command(
        "translate sources and score the translations: the data of values",
        "data-bin --path policy.pt --metric mlbertscore:model=FOLDER --method completions "
        "--samples 2 --out scored",
    ),
    "score": Command(
        "compare translations by metrics, with significance",
        "beam.txt search.txt --references test.de --metrics bleu chrf",
    ),
    "sweep": Command(
        "find the settings of a decoder on validation data",
        "data-bin --path model.pt --beam 5 --sweep lenpen=0.6,0.8,1.0 --sweep-metric chrf "
        "--sweep-out swept",
    ),
    "report": Command(
        "write one page about decodings, with the sentences behind every figure",
        "page.html beam search --metric chrf",
    ),
    "explore": Command(
        "look at searches token by token in a browser",
        "data-bin --path model.pt",
    ),
    "plan": Command(
        "measure for a minute what a large corpus will take",
        "data-bin --path model.pt --search-settings swept/best.json --sentences 1e6,41e6",
    ),
}


def make_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:{width}}  {one.summary}" for name, one in COMMANDS.items())
    examples = "\n".join(f"  fairseq-mcts {name} {one.example}" for name, one in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="fairseq-mcts",
        usage="fairseq-mcts [--debug] COMMAND …",
        description="Translation that decodes for a metric. Training and decoding are fairseq's "
        "own commands with --user-dir; these are beside them.",
        epilog=f"commands (COMMAND --help says more):\n{listed}\n\nexamples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND", help="one of these")
    parser.add_argument("--version", action="version", version=fairseq_mcts.__version__)
    parser.add_argument("--debug", action="store_true", help="errors come with their traceback")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else list(arguments)
    # everything behind the command's name is the command's
    own = next((place for place, one in enumerate(given) if one in COMMANDS), len(given))
    options = make_parser().parse_args(given[: own + 1])
    if options.debug:
        os.environ[DEBUG] = "1"  # for its workers, too
    importlib.import_module(f"fairseq_mcts.cli.{options.command}").main(given[own + 1 :])


if __name__ == "__main__":
    main()
