"""A command of toy work in two processes: `python -m tests.work.toy_command OUT [--workers N]`."""

import argparse
from pathlib import Path

from fairseq_mcts.work import Engine, Here, Processes, Staff, locked
from tests.work.test_engines import squares
from tests.work.toy import Squares, make_job


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    engine: Engine = Here() if options.workers is None else Processes(options.workers)
    job = make_job(options.out / "chunks" / "toy", rows=60)
    result = options.out / "squares.txt"
    with Staff(engine, Squares(seconds=0.1)) as staff, locked(job.store.folder, options.out):
        job.store.begin(job.settings, {})
        found = job.complete(staff, lambda: squares(job))
    result.write_text(" ".join(map(str, found)))
    job.store.remove()


if __name__ == "__main__":
    main()
