"""The paper's experiments on Multi30k; see README.md beside this file."""

import argparse
import os
import sys
from pathlib import Path

from examples.common.runner import Runner, StageFailed
from examples.multi30k.corpus import locate_all
from examples.multi30k.layout import SOURCE, TARGETS, Layout
from examples.multi30k.supervised import SupervisedStages

# Two threads that wait for each other can be far slower than one where other programs run too.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.multi30k", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.en(.gz) etc.")
    parser.add_argument("--work", type=Path, required=True, help="folder for all it makes")
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS))
    args = parser.parse_args()

    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    try:
        for target in args.target:
            locate_all(args.data, (SOURCE, target))
            layout = Layout(args.data, args.work, target)
            Runner(layout.pair).run(SupervisedStages(layout).all())
    except (StageFailed, OSError) as failure:
        print(f"multi30k: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmulti30k: stopped; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
