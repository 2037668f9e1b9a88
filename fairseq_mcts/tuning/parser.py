"""The options of fairseq-mcts-sweep."""

import argparse
from pathlib import Path

from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.subset.parsing import generation_parser
from fairseq_mcts.work.options import add_engine_options

PROGRAM = "fairseq-mcts-sweep"
TRIALS = 50
PARTS = 5


def make_parser() -> argparse.ArgumentParser:
    """All options of fairseq-generate, and those of the sweep."""
    parser = generation_parser(
        PROGRAM,
        "Decode with many settings of some options and score each; takes all options of "
        "fairseq-generate. Networks are loaded once. Killed at any moment, the same command goes "
        "on where it was.",
    )
    group = parser.add_argument_group("sweep")
    group.add_argument(
        "--sweep",
        action="append",
        required=True,
        metavar="NAME[=VALUE,…]",
        help="an option of decoding and the values to try, for example lenpen=0.6,1.0; without "
        "values those that its decoder proposes; with --sampler tpe or random also a range of "
        "numbers, as in mcts-c-puct=0.5..8:log, lenpen=0.2..1.4:0.2 or beam=2..12; a switch as in "
        "sr-without-replacement=no,yes; may be repeated",
    )
    group.add_argument(
        "--sweep-metric",
        action="append",
        required=True,
        metavar="NAME[:OPTION=VALUE,…]",
        help="the first one chooses the best setting, unless --objective names another; further "
        "ones are shown beside it",
    )
    group.add_argument(
        "--keep",
        action="append",
        metavar="NAME=POINTS",
        help="choose no setting that is more than so many points below the best one by this "
        "--sweep-metric, as the table shows it, for example chrf=1; may be repeated",
    )
    group.add_argument(
        "--sweep-sentences",
        type=int,
        metavar="N",
        help="decode the first N sentences of --gen-subset (default: all)",
    )
    group.add_argument(
        "--sweep-out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder for the translations and scores of every setting",
    )
    group.add_argument(
        "--write-settings",
        type=Path,
        metavar="FILE",
        help="file for the best setting, which all commands that decode read by --search-settings "
        "(default: best.json in the folder of --sweep-out)",
    )
    group.add_argument(
        "--sampler",
        choices=("grid", "tpe", "random"),
        default="grid",
        help="grid: all combinations of all values; tpe, random: --trials settings that optuna "
        "proposes, from what was found so far or not (default: %(default)s)",
    )
    group.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help=f"of --sampler tpe or random, all runs of the command together (default: {TRIALS})",
    )
    group.add_argument(
        "--objective",
        action="append",
        metavar="NAME",
        help="the name of a --sweep-metric, or charged or made (network evaluations per token, the "
        "fewer the better); one metric chooses, and is what --prune goes by; given several times, "
        "the settings are told that no other one beats in all of them (default: the first metric)",
    )
    group.add_argument(
        "--prune",
        choices=("median", "halving"),
        help="give settings up that are hopeless on a part of the sentences: worse than the median "
        "of others, or by successive halving",
    )
    group.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help=f"of the sentences, after each of which --prune decides (default: {PARTS})",
    )
    group.add_argument(
        "--storage",
        metavar="URL",
        help="of optuna's study, for example sqlite:///study.db, mysql://… or journal:FILE; "
        "several commands, on several machines too, may share one (default: study.db in the folder "
        "of --sweep-out; a grid without --prune needs none)",
    )
    group.add_argument(
        "--plots",
        type=Path,
        metavar="FILE",
        help="file for plots of the trials (.png, .svg or .pdf)",
    )
    many = parser.add_argument_group("many processes")
    add_engine_options(many)
    return in_one_style(parser, "sweep", [group, many])


def num_parts(options: argparse.Namespace) -> int:
    """After how many parts of the sentences something is decided."""
    return 1 if options.prune is None else options.parts or PARTS
