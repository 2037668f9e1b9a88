"""fairseq-mcts-score: several systems, several metrics, and whether the differences mean anything.

Also says which metric each system's decoding optimised: a decoder is never judged by that alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.cli.comparing import add_comparison_options, read_and_check
from fairseq_mcts.cli.errors import exit_on_errors
from fairseq_mcts.cli.score_table import as_json, as_text
from fairseq_mcts.command_help import in_one_style


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairseq-mcts-score",
        description="Score translations by several metrics, with signatures, and test differences "
        "to a baseline by paired bootstrap.",
    )
    add = parser.add_argument
    add(
        "systems",
        nargs="*",  # at least one, but with a better complaint than argparse's
        metavar="[NAME=]FILE",
        help="output of a system: plain text, one sentence a line, or a generate-*.txt of "
        "fairseq-generate (its D lines are read; concatenate shards)",
    )
    add(
        "--metrics",
        nargs="+",
        metavar="NAME[:OPTION=VALUE,…]",
        help="metrics to compute; default: bleu and chrf, with --encoder also bertscore and "
        "mlbertscore, each as far as references and sources are there",
    )
    add(
        "--optimised",
        nargs="+",
        default=[],
        metavar="[NAME=]METRIC",
        help="metric that the decoding of a system (without NAME: of all but the baseline) "
        "optimised, or 'none'; marked in the table and never the only one shown",
    )
    add("--json", metavar="FILE", help="write the results as JSON too ('-': instead of the table)")
    add_comparison_options(parser, "--metrics", "FILE")
    return in_one_style(parser, "score")


complete_parser = make_parser  # nothing comes late


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    if not options.systems:
        parser.error(
            "no system is given: [NAME=]FILE come first, because --metrics and --optimised take "
            "whatever follows them"
        )
    with exit_on_errors(parser.prog, resumes=False):
        systems = read_and_check(options)
        systems.fill()
        comparison = systems.comparison
        as_data = json.dumps(as_json(comparison), indent=2, ensure_ascii=False) + "\n"
        if options.json == "-":
            sys.stdout.write(as_data)
            return
        print(as_text(comparison), flush=True)
        if options.json is not None:
            Path(options.json).write_text(as_data, encoding="utf-8")
