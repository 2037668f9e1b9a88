"""Rounds of expert iteration for the value of a policy; see README.md beside this file."""

import argparse
import shlex
import sys
from pathlib import Path

from examples.common.runner import Runner, run_program
from examples.common.threads import use_one_thread_each
from examples.common.value_rounds import Given, RoundSizes
from examples.expert_iteration.plan import Plan
from examples.expert_iteration.results import HeldOut, table
from fairseq_mcts.metrics.system_output import read_lines


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.expert_iteration")
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of fairseq-preprocess")
    add("--policy", type=Path, required=True, help="checkpoint of a transformer")
    add("--metric", required=True, help="as fairseq-mcts-relabel takes it")
    add("--text", default="", help='options of subwords, such as "--post-process sentencepiece"')
    add(
        "--monolingual",
        type=Path,
        help="text in the source language alone",
    )
    add("--sources", type=Path, required=True, help="plain text of what is translated")
    add("--references", type=Path, required=True, help="and of its references")
    add("--subset", default="valid", help="split that is translated (default: %(default)s)")
    add("--work", type=Path, required=True, help="folder for all it makes")
    add("--budget", type=int, default=50, help="of each search (default: %(default)s)")
    add(
        "--policy-updates",
        type=int,
        default=Plan.policy_updates,
        help="of the policy, from what searches found; 0: it stays (default: %(default)s)",
    )
    for name, default in vars(RoundSizes()).items():
        add(f"--{name.replace('_', '-')}", type=int, default=default)
    return parser


def run(args: argparse.Namespace) -> None:
    given = Given(
        args.data,
        args.policy,
        args.metric,
        tuple(shlex.split(args.text)),
        args.monolingual,
    )
    sizes = RoundSizes(**{name: getattr(args, name) for name in vars(RoundSizes())})
    plan = Plan(given, args.work, sizes, args.subset, args.budget, args.policy_updates)
    held_out = HeldOut(read_lines(args.sources), read_lines(args.references))
    runner = Runner(args.work)
    runner.run(plan.stages())
    print(table(plan, runner, held_out))


def main() -> int:
    args = make_parser().parse_args()
    use_one_thread_each()
    return run_program("expert_iteration", lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
