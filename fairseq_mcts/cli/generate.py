"""fairseq-mcts-generate: translate in chunks; killed at any moment, the same command goes on."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one, refuse_impossible_workers
from fairseq_mcts.cli.generate_config import PROGRAM, make_parser, parse, refuse_unfit
from fairseq_mcts.cli.work_options import make_engine, parse_shard
from fairseq_mcts.register import register
from fairseq_mcts.subset import parsing

_NAMED = 10  # so many sentences that were left out, or have failed, are listed one by one


def complete_parser() -> argparse.ArgumentParser:
    """With all options that fairseq knows late."""
    return parsing.complete_parser(make_parser)


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Translates what is missing of a shard; without a shard of everything, and joins it."""
    from fairseq import tasks

    from fairseq_mcts.cli.generate_join import OutputFiles, join
    from fairseq_mcts.cli.generate_settings import generate_settings
    from fairseq_mcts.cli.generate_work import GenerateWork, open_input
    from fairseq_mcts.subset.options import check_data
    from fairseq_mcts.work import Job, Shard, Staff, cut, locked, refuse_held

    options, cfg = parse(arguments)
    refuse_below_one(options, "chunk_sentences")
    refuse_impossible_workers(options)
    refuse_unfit(options, cfg)
    check_data(cfg)
    shard = None if options.shard is None else parse_shard(options.shard)
    engine = make_engine(options)
    task = tasks.setup_task(cfg.task)
    given = open_input(cfg, options, task)
    settings = generate_settings(cfg, options, task, given)
    files = OutputFiles(options.out, given.name, options.plain_text)
    store = files.store()
    rows = range(len(given))
    nothing_to_do = f"{given.name}: complete in {options.out}, nothing to do"
    if files.is_complete(settings):
        store.remove()  # a join may have been killed just before it did
        print(nothing_to_do)
        return
    store.refuse_other(settings)
    refuse_held(store.folder, options.out, shard)
    chunks = cut(given.name, rows, options.chunk_sentences, shard or Shard())
    job = Job(given.name, store, settings, chunks, unit="sentences")
    with Staff(engine, GenerateWork(arguments)) as staff:
        if job.pending():
            staff.workers()
        # nothing is written before everything that can be refused has been
        with locked(store.folder, options.out, shard):
            if files.is_complete(settings):  # by a command that ended just now
                print(nothing_to_do)
                return
            origin = {"data": cfg.task.data, "path": cfg.common_eval.path}
            store.begin(settings, origin)
            if shard is not None:
                job.make_chunks(staff)
                print(
                    f"{given.name}: {shard} is finished; after all shards give the command without "
                    "--shard"
                )
                return
            print(summary(given.name, job.complete(staff, partial(join, files, settings, chunks))))


def summary(name: str, record: dict[str, Any]) -> str:
    """What was made, in words; sentences that were left out by their numbers."""
    counts, left_out = record["counts"], record["left_out"]
    charged, made = counts["charged"], counts["made"]
    lines = [
        f"{name}: {counts['sentences']:,} sentences, {counts['tokens']:,} tokens; network "
        f"evaluations: {charged:,} charged, {made:,} made"
    ]
    if left_out:
        named = ", ".join(f"{one['id']} ({one['tokens']} tokens)" for one in left_out[:_NAMED])
        more = ", …" if len(left_out) > _NAMED else ""
        lines.append(f"left out, too long: {len(left_out):,} sentences: {named}{more}")
    if failed := record["failed"]:
        lines.append(f"failed: {len(failed):,} sentences")
        lines += [f"  sentence {one['id']}: {one['why']}" for one in failed[:_NAMED]]
        lines += [f"  … (generate-{name}.json names all)"] if len(failed) > _NAMED else []
    return "\n".join(lines)


if __name__ == "__main__":
    main()
