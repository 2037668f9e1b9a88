"""fairseq-mcts-plan: how long decoding a large corpus will take, and what it needs."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict

from fairseq_mcts.cli.errors import exit_on_errors
from fairseq_mcts.data.files import complete_file
from fairseq_mcts.planning.parser import PROGRAM, make_parser, whole_numbers
from fairseq_mcts.planning.rates import project
from fairseq_mcts.planning.table import as_text
from fairseq_mcts.register import register
from fairseq_mcts.subset.parsing import parse


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM, resumes=False):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Measure, print the table, write the figures."""
    from fairseq_mcts.planning.measuring import measure
    from fairseq_mcts.subset.options import check_options

    options, cfg = parse(make_parser, arguments)
    sentences = whole_numbers("--sentences", options.sentences)
    workers = whole_numbers("--workers", options.workers)
    if not options.seconds > 0:
        raise ValueError(f"--seconds {options.seconds}: must be greater than 0")
    if options.json is not None and not options.json.parent.is_dir():
        raise FileNotFoundError(f"--json {options.json}: there is no folder {options.json.parent}")
    check_options(cfg)
    rates = measure(arguments, options.seconds, min(max(workers), _cores()))
    plan = [project(rates, size, count) for size in sentences for count in workers]
    print(as_text(rates, plan))
    if options.json is not None:
        figures = {
            "command": shlex.join([PROGRAM, *arguments]),
            "measured": {**asdict(rates), "costs": [cost._asdict() for cost in rates.costs]},
            "plan": [projection._asdict() for projection in plan],
        }
        with complete_file(options.json) as stream:
            stream.write((json.dumps(figures, indent=1) + "\n").encode())


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()
