"""fairseq-mcts-relabel: from a corpus, a policy and a metric to data with scores."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one, refuse_impossible_workers
from fairseq_mcts.cli.relabel_recipe import (
    CHUNK_ROWS,
    folders_of,
    make_recipe_parser,
    plan_from,
    plan_in_worker,
    refuse_bad_counts,
)
from fairseq_mcts.cli.work_options import checked_shard, make_engine, parse_shard
from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.register import register
from fairseq_mcts.work import Shard
from fairseq_mcts.work.options import add_engine_options

PROGRAM = "fairseq-mcts-relabel"
_MERGE_OPTIONS = {
    *("data", "out", "subset", "out_subset", "source_lang", "target_lang"),
    *("num_shards", "merge", "user_dir"),
}


def make_parser(arguments: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser; which options --bpe and --tokenizer have depends on the arguments."""
    parser = make_recipe_parser(
        PROGRAM,
        "Translate a binarised corpus with a policy and score every translation: "
        "data that fairseq-train --task translation_mcts learns values from. Killed at any "
        "moment, the same command goes on where it was.",
        arguments,
    )
    add = parser.add_argument
    add("--out", metavar="FOLDER", type=Path, required=True, help="folder for the data with scores")
    add(
        "--out-subset",
        metavar="NAME",
        help="what the one split of --subset is to be called, for example train1, which is trained "
        "on together with train of the same folder (default: the same)",
    )
    _add_sharding_options(parser.add_argument_group("many processes"))
    return in_one_style(parser, "relabel")


def complete_parser() -> argparse.ArgumentParser:
    """With the options of the subwords that most data is made with."""
    return make_parser(["--bpe", "sentencepiece"])


def _add_sharding_options(group: Any) -> None:
    add, count = group.add_argument, partial(group.add_argument, type=int, metavar="N")
    add_engine_options(group)
    add(
        "--shard",
        metavar="I/N",
        help="do only the I-th of N parts of the work, the first of which is 0: for arrays of jobs "
        "(also: --shard I --num-shards N)",
    )
    count("--num-shards", help="with --merge: to name the shards that are missing")
    add(
        "--merge",
        action="store_true",
        help="after all shards: put the result together (without shards that happens by itself); "
        "takes the shards' settings, so give just DATA, --out and, if you did, --subset and "
        "languages",
    )
    count(
        "--chunk-rows",
        default=CHUNK_ROWS,
        help="rows that are saved together: what a kill can cost (default: %(default)s)",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        parser = make_parser(arguments)
        options = parser.parse_args(arguments)
        refuse_below_one(options, "num_shards", "chunk_rows")
        refuse_impossible_workers(options)
        refuse_bad_counts(options)
        if options.merge:
            _merge(parser, options)
        else:
            _relabel(options)


def _merge(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    from fairseq_mcts.relabelling.run import merge_only

    for name, given in vars(options).items():
        if name not in _MERGE_OPTIONS and given != parser.get_default(name):
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag}: not with --merge, which takes the settings of the shards")
    merge_only(folders_of(options), options.num_shards)


def _relabel(options: argparse.Namespace) -> None:
    from fairseq_mcts.relabelling.run import relabel

    shard = _shard(options)
    if options.cpus_per_worker is not None and options.workers is None and options.engine != "ray":
        raise ValueError("--cpus-per-worker: has no effect without --workers or --engine ray")
    engine = make_engine(options)
    relabel(partial(plan_in_worker, options), plan_from(options), shard=shard, engine=engine)


def _shard(options: argparse.Namespace) -> Shard | None:
    if options.shard is not None and "/" in options.shard:
        if options.num_shards is not None:
            raise ValueError("--num-shards: --shard I/N says it already")
        return parse_shard(options.shard)
    if options.num_shards is None and options.shard is None:
        return None
    if options.num_shards is None or options.shard is None:
        raise ValueError("--shard and --num-shards belong together; or give --shard I/N")
    if not options.shard.isdecimal():
        raise ValueError(f"--shard {options.shard}: expected I/N, for example 0/8")
    return checked_shard(int(options.shard), options.num_shards)


if __name__ == "__main__":
    main()
