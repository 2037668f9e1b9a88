"""What each decoder gains with its budget: tuning, decoding, one page; see README.md here."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.budget_curves import curves
from examples.budget_curves.page import make_page
from examples.budget_curves.plan import Given, Plan, Sizes
from examples.budget_curves.plots import plot, plot_v_mcts
from examples.budget_curves.scores import Scores
from examples.budget_curves.ways import EXTRA, make_ways
from examples.common.runner import Runner, run_program
from examples.common.threads import use_one_thread_each
from fairseq_mcts.register import register


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.budget_curves")
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of fairseq-preprocess")
    add("--path", type=Path, required=True, help="checkpoint with policy and value")
    add("--metric", required=True, help="that the value was trained for; it needs no reference")
    add("--bertscore", help="of MBR (default: bertscore with the options of --metric)")
    add("--text", default="", help='how subwords become text: "--bpe sentencepiece …"')
    add("--work", type=Path, required=True, help="folder for all it makes, of this model alone")
    add("--title", default="", help="of the page (default: the name of --data)")
    add("--subset", default=Given.subset, help="that is translated")
    add("--tuning-subset", default=Given.tuning_subset, help="that settings are chosen on")
    for name, default in vars(Sizes()).items():
        many = isinstance(default, tuple)
        kind = int if many else type(default)
        option = f"--{name.replace('_', '-')}"
        add(option, type=kind, nargs="+" if many else None, default=default)
    names = [way.name for way in make_ways("", "")]
    usual = [name for name in names if name not in EXTRA]
    add("--ways", nargs="+", choices=names, default=usual, metavar="NAME", help=", ".join(names))
    add("--at-once", type=int, default=os.cpu_count() or 1, help="stages that run side by side")
    return parser


def make_plan(args: argparse.Namespace) -> Plan:
    bertscore = args.bertscore or ":".join(["bertscore", *args.metric.split(":", 1)[1:]])
    given = Given(
        *(args.data, args.path, args.metric, bertscore, tuple(shlex.split(args.text))),
        *(args.subset, args.tuning_subset),
    )
    sizes: dict[str, Any] = {
        name: tuple(sorted(set(value))) if isinstance(value, list) else value
        for name, value in vars(args).items()
        if name in vars(Sizes())
    }
    return Plan(given, args.work, Sizes(**sizes), tuple(args.ways))


def run(args: argparse.Namespace) -> None:
    plan = make_plan(args)
    found = curves.run(plan, Runner(args.work, args.at_once))
    print(f"\n{report(args.title or args.data.name, plan, found)}")


def report(title: str, plan: Plan, found: Sequence[curves.Curve]) -> Path:
    """Write the page and the pictures beside it."""
    scores = make_scores(plan, next(curve for curve in found if curve.way == plan.beam))
    shown = [one for one in scores.metrics if one.name in (scores.metrics[0].name, "chrf")]
    pictures = {"curves": plan.work / "curves.svg"}
    plot(found, scores, shown, pictures["curves"])
    of_v_mcts = plan.work / "v-mcts.svg"
    if plot_v_mcts(found, scores, shown, of_v_mcts):
        pictures["all ways of V-MCTS"] = of_v_mcts
    page = plan.work / "RESULTS.md"
    page.write_text(make_page(title, plan, found, scores, pictures), encoding="utf-8")
    return page


def make_scores(plan: Plan, beam: curves.Curve) -> Scores:
    """Scores by all metrics, of the sentences as the stages have read them."""
    register()  # before fairseq is imported
    from fairseq_mcts.tuning.subject import Subject

    metrics = [plan.given.metric, plan.given.bertscore, "bleu", "chrf"]
    _, *arguments = plan.decode(plan.beam, (), [*beam.trials]).command
    judged = [part for one in metrics[1:] for part in ("--sweep-metric", one)]
    subject = Subject([*arguments, *judged])
    return Scores(subject.metrics, subject.sources, subject.references, beam)


def main() -> int:
    args = make_parser().parse_args()
    use_one_thread_each()
    return run_program("budget_curves", lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
