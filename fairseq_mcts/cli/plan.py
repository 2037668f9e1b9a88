"""fairseq-mcts-plan: how long work on a large corpus will take, and what it needs."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one
from fairseq_mcts.cli.relabel_recipe import (
    CHUNK_ROWS,
    given_early,
    make_recipe_parser,
    plan_from,
    plan_in_worker,
    refuse_bad_counts,
)
from fairseq_mcts.cli.work_options import gpus
from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.data.files import complete_file
from fairseq_mcts.planning.options import PROGRAM, RELABELLING, add_plan_options, whole_numbers
from fairseq_mcts.planning.rates import project
from fairseq_mcts.planning.table import as_text
from fairseq_mcts.register import register
from fairseq_mcts.subset import parsing
from fairseq_mcts.work import Processes
from fairseq_mcts.work.options import threads_of


def complete_parser() -> argparse.ArgumentParser:
    """With all options that fairseq knows late."""
    from fairseq_mcts.cli.plan_decoding import make_parser

    return parsing.complete_parser(make_parser)


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM, resumes=False):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Measure, print the table, write the figures."""
    from fairseq_mcts.planning.measuring import measure

    if given_early("--work", arguments) == RELABELLING:
        options, work = _relabelling(arguments)
    else:
        options, work = _decoding(arguments)
    sentences, workers = _sizes(options)
    threads = threads_of(options)
    together = min(max(workers), max(_cores() // threads, 1))
    rates = measure(
        work, options.seconds, Processes(together, threads, [] if options.cpu else gpus())
    )
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


def _sizes(options: argparse.Namespace) -> tuple[list[int], list[int]]:
    """Numbers of sentences and of workers; refuses what no plan can be made of."""
    refuse_below_one(options, "cpus_per_worker")
    if not options.seconds > 0:
        raise ValueError(f"--seconds {options.seconds}: must be greater than 0")
    if options.json is not None and not options.json.parent.is_dir():
        raise FileNotFoundError(f"--json {options.json}: there is no folder {options.json.parent}")
    return (
        whole_numbers("--sentences", options.sentences),
        whole_numbers("--workers", options.workers),
    )


def _decoding(arguments: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    from fairseq_mcts.cli.generate_config import parse, refuse_unfit
    from fairseq_mcts.cli.plan_decoding import DecodingWork, make_parser
    from fairseq_mcts.subset.options import check_data, decoder_of, generator_options

    options, cfg = parse(arguments, make_parser)
    _sizes(options)  # before anything is read
    refuse_below_one(options, "chunk_sentences")
    refuse_unfit(options, cfg)
    decoder_of(generator_options(cfg))
    check_data(cfg)
    return options, DecodingWork(arguments, options.chunk_sentences)


def _relabelling(arguments: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    from fairseq_mcts.planning.relabelling_work import RelabellingWork

    options = make_relabelling_parser(arguments).parse_args(arguments)
    _sizes(options)
    refuse_bad_counts(options)
    plan_from(options).open()
    return options, RelabellingWork(partial(plan_in_worker, options))


def make_relabelling_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Options of fairseq-mcts-relabel that decide what it takes, and those of the plan."""
    parser = make_recipe_parser(
        PROGRAM,
        "Tell how long it will take to relabel a large corpus, and what memory and disk it needs: "
        "relabels sources of --subset for a minute, as fairseq-mcts-relabel would with these "
        "options, alone and in several processes at once.",
        arguments,
    )
    add_plan_options(parser)
    # nothing is written
    parser.set_defaults(out=Path(os.devnull), out_subset=None, chunk_rows=CHUNK_ROWS)
    return in_one_style(parser, "plan")


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()
