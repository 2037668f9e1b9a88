"""`make ablation`: how well a value can be learned, by what it reads and which prefixes it judges.

The error that remains with the source and unfinished samples is mostly chance, that with the
reference and finished samples none: the metric itself is a function of the two.

Compare rows that judge different prefixes by "ratio", the error over that of always saying the
mean: a sample counts once among finished samples and once a prefix among all, so long samples,
whose BLEU differs less, weigh more there and even the mean is a better guess.
"""

import argparse
import os
import sys
from pathlib import Path

from examples.ablation.plan import CELLS, AblationPlan
from examples.ablation.results import read_result, table
from examples.common.runner import Runner, StageFailed
from examples.common.threads import use_one_thread_each
from examples.demo.plan import Plan, Sizes

UPDATES = 900


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.ablation", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("work"), help="the demo's folder")
    parser.add_argument("--train-pairs", type=int, default=Sizes.train_pairs)
    parser.add_argument("--held-out-pairs", type=int, default=Sizes.held_out_pairs)
    parser.add_argument("--pieces", type=int, default=Sizes.pieces, help="size of the vocabulary")
    parser.add_argument("--policy-updates", type=int, default=Sizes.updates)
    parser.add_argument("--updates", type=int, default=UPDATES, help="length of each training")
    parser.add_argument(
        "--at-once", type=int, default=os.cpu_count() or 1, help="stages that run side by side"
    )
    args = parser.parse_args()
    use_one_thread_each()

    sizes = Sizes(args.train_pairs, args.held_out_pairs, args.pieces, args.policy_updates)
    plan = AblationPlan(Plan(args.work, sizes), args.updates)
    runner = Runner(args.work, args.at_once)
    try:
        runner.run(plan.stages())
    except StageFailed as failure:
        print(f"ablation: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nablation: stopped; the next run goes on from here", file=sys.stderr)
        return 130
    results = [read_result(cell, runner.log(plan.train(cell))) for cell in CELLS]
    print(f"\nmean absolute error of the value of sentence BLEU, in [0, 1]\n{table(results)}")
    print("ratio: error / error of always saying the mean, which differs with the prefixes judged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
