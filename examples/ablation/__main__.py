"""`make ablation`: how well a value can be learned, by what it reads and which prefixes it judges.

The error that remains with the source and unfinished samples is mostly chance, that with the
reference and finished samples none: the metric itself is a function of the two.

Compare rows that judge different prefixes by "ratio", the error over that of always saying the
mean: a sample counts once among finished samples and once a prefix among all, so long samples,
whose BLEU differs less, weigh more there and even the mean is a better guess.
"""

import argparse
import sys
from dataclasses import replace

from examples.ablation.plan import CELLS, AblationPlan
from examples.ablation.results import read_result, table
from examples.common.runner import Runner, run_program
from examples.common.threads import use_one_thread_each
from examples.demo.options import make_shared_parser, sizes_of
from examples.demo.plan import Plan, Sizes
from fairseq_mcts.command_help import show_defaults

UPDATES = 900


def main() -> int:
    args = make_parser().parse_args()
    use_one_thread_each()
    return run_program("ablation", lambda: run(args))


def make_parser() -> argparse.ArgumentParser:
    """All options of the ablation."""
    parser = make_shared_parser("python -m examples.ablation", __doc__)
    lengths = {
        "policy_updates": ("updates of the policy's training", Sizes.updates),
        "updates": ("updates of each value's training", UPDATES),
    }
    for name, (what, default) in lengths.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=default, metavar="N", help=what)
    show_defaults(parser)
    return parser


def run(args: argparse.Namespace) -> None:
    """Run all stages and print the errors of the values."""
    sizes = replace(sizes_of(args), updates=args.policy_updates)
    plan = AblationPlan(Plan(args.work, sizes, seed=args.seed), args.updates)
    runner = Runner(args.work, args.at_once)
    runner.run(plan.stages())
    results = [read_result(cell, runner.log(plan.train(cell))) for cell in CELLS]
    print(f"\nmean absolute error of the value of sentence BLEU, in [0, 1]\n{table(results)}")
    print("ratio: error / error of always saying the mean, which differs with the prefixes judged")


if __name__ == "__main__":
    sys.exit(main())
