"""fairseq-mcts-score: several systems, several metrics, and whether the differences mean anything.

Also says which metric each system's decoding optimised: a decoder is never judged by that alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.cli.comparing import read_and_check
from fairseq_mcts.cli.errors import exit_on_errors
from fairseq_mcts.cli.score_table import as_json, as_text
from fairseq_mcts.metrics.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED


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
    add("--sources", metavar="FILE", help="sources; default: the S lines of a generate-*.txt")
    add("--references", metavar="FILE", help="references; default: the T lines of a generate-*.txt")
    add(
        "--metrics",
        nargs="+",
        metavar="NAME[:OPTION=VALUE,…]",
        help="metrics to compute; default: bleu and chrf, with --encoder also bertscore and "
        "mlbertscore, each as far as references and sources are there",
    )
    add(
        "--encoder",
        metavar="PATH",
        help="local folder or hub name of the encoder of bertscore and mlbertscore",
    )
    add("--encoder-layer", type=int, metavar="N", help="layer of the encoder to compare")
    add(
        "--optimised",
        nargs="+",
        default=[],
        metavar="[NAME=]METRIC",
        help="metric that the decoding of a system (without NAME: of all but the baseline) "
        "optimised, or 'none'; marked in the table and never the only one shown",
    )
    add("--baseline", metavar="NAME", help="system to compare with; default: the first one")
    add(
        "--resamples",
        type=int,
        default=DEFAULT_RESAMPLES,
        help="resamples of the paired bootstrap; 0: no test (default: %(default)s)",
    )
    add("--seed", type=int, default=DEFAULT_SEED, help="of the resampling (default: %(default)s)")
    add("--json", metavar="FILE", help="write the results as JSON too ('-': instead of the table)")
    add("--user-dir", metavar="DIR", help="folder that registers further metrics")
    parser.set_defaults(program=parser.prog)
    return parser


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
