"""The paper's experiments on Multi30k; see README.md beside this file."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from examples.common.runner import run_program
from examples.common.threads import use_one_thread_each
from examples.multi30k.corpus import locate_all
from examples.multi30k.layout import SOURCE, TARGETS, Layout
from examples.multi30k.study import Study
from fairseq_mcts.metrics.encoder import check_local_folder

GROUPS: dict[str, Callable[[Study], None]] = {
    "policy": Study.run_policy,
    "mlbertscore": lambda study: study.run_metric("mlbertscore"),
    "bleu": lambda study: study.run_metric("bleu"),
    "bertscore": lambda study: study.run_metric("bertscore"),
    "recipes": Study.run_recipes,
    "seeds": Study.run_seeds,
    "values": Study.run_values,
    "scaling": Study.run_scaling,
}
#: what is done for a pair if nothing is said; the second pair has the main comparison only
DEFAULT_GROUPS = {"de": tuple(GROUPS), "fr": ("policy", "mlbertscore", "bleu", "bertscore")}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.multi30k", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.en(.gz) etc.")
    parser.add_argument("--work", type=Path, required=True, help="folder for all it makes")
    parser.add_argument(
        "--encoder",
        default="bert-base-multilingual-cased",
        help="folder or hub name of the multilingual encoder of the BERTScores "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--monolingual",
        type=Path,
        help="more English text, plain or .gz, for the values of MLBERTScore, which need no "
        "references (default: the sources of the training data)",
    )
    parser.add_argument(
        "--target", nargs="+", choices=TARGETS, default=list(TARGETS), help="default: both"
    )
    parser.add_argument(
        "--groups",
        nargs="+",
        choices=tuple(GROUPS),
        metavar="GROUP",
        help=f"stages to run, of {', '.join(GROUPS)}; each runs what it needs of the others "
        "(default: all for de, the main comparison alone for fr)",
    )
    return parser


def run(args: argparse.Namespace) -> None:
    """Run the groups of all language pairs, once it is clear that the inputs are there."""
    for target in args.target:
        locate_all(args.data, (SOURCE, target))
    check_local_folder(args.encoder)  # not only when the policy has been trained
    if args.monolingual is not None and not args.monolingual.is_file():
        raise FileNotFoundError(f"--monolingual {args.monolingual}: there is no such file")
    for target in args.target:
        study = Study(Layout(args.data, args.work, args.encoder, target, args.monolingual))
        for group in args.groups or DEFAULT_GROUPS[target]:
            print(f"== {SOURCE}-{target}: {group}", flush=True)
            GROUPS[group](study)


def main() -> int:
    args = make_parser().parse_args()
    use_one_thread_each()
    return run_program("multi30k", lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
