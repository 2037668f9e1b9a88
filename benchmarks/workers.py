"""How much faster are two workers than one, and what do chunks cost?

    python benchmarks/workers.py [--rounds 3] --work FOLDER -- DATA --path FILE …
    python benchmarks/workers.py --relabel --work FOLDER -- DATA --path FILE --metric NAME …

Two workers against one, in sentences a second once they are started: both translate, or relabel,
the same chunks, in turns. Where other programs run, wall time says little, so processor time is
printed as well: what a sentence costs with one worker over what it costs with two, times two, is
the speed-up that idle cores would give, but for what workers wait for one another.

Two cores are not always twice one: they share memory and caches, and on rented machines may be two
threads of one. So two commands with one worker each run at the same time too, and know nothing of
one another: together they are as much faster than one as this machine allows for this work.

Chunks against one plain fairseq-generate: the processor time of whole commands, in turns, start and
end included, least of all rounds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import repeat
from pathlib import Path

from commands import Cost, cost, fairseq_generate, module
from fairseq import tasks

from fairseq_mcts.cli.generate_config import parse
from fairseq_mcts.cli.generate_work import GenerateWork, open_input
from fairseq_mcts.cli.relabel import make_parser
from fairseq_mcts.cli.relabel_recipe import plan_in_worker
from fairseq_mcts.register import register
from fairseq_mcts.relabelling.labelling_work import LabellingWork
from fairseq_mcts.work import Chunk, Processes, Shard, Staff, Work, Workers, cut, make_all

RATIO_BAR, OVERHEAD_BAR = 1.85, 0.03


def children_cpu() -> float:
    """Processor time of all processes that this one has started and that still run."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    ticks = 0
    for child in children:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def time_chunks(workers: Workers, chunks: Sequence[Chunk]) -> Cost:
    """What making the chunks costs workers that are ready."""
    begun, before = time.perf_counter(), children_cpu()
    for _ in make_all(workers, chunks, lambda rows: None):
        pass
    return Cost(time.perf_counter() - begun, children_cpu() - before)


def cost_when_ready(engine: Processes, work: Work, chunks: Sequence[Chunk]) -> Cost:
    """What making the chunks costs workers that have loaded and compiled everything."""
    with Staff(engine, work) as staff:
        workers = staff.workers()
        while workers.idle() < engine.workers:
            workers.receive(lambda rows: None)
        time_chunks(workers, chunks[: 2 * engine.workers])
        return time_chunks(workers, chunks)


def cost_apart(work: Work, chunks: Sequence[Chunk], count: int) -> Cost:
    """What it costs several single workers that each make all chunks at the same time."""
    with ExitStack() as stack:
        singles = []
        for _ in range(count):
            workers = stack.enter_context(Staff(Processes(1), work)).workers()
            while not workers.idle():
                workers.receive(lambda rows: None)
            time_chunks(workers, chunks[:2])
            singles.append(workers)
        begun, before = time.perf_counter(), children_cpu()
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(time_chunks, singles, repeat(chunks)))
        return Cost(time.perf_counter() - begun, children_cpu() - before)


def translating(given: Sequence[str], rows: int) -> tuple[Work, list[Chunk]]:
    """The work of fairseq-mcts-generate, and its chunks."""
    arguments = [*given, "--out", "unused", "--chunk-sentences", str(rows)]
    options, cfg = parse(arguments)
    count = len(open_input(cfg, options, tasks.setup_task(cfg.task)))
    return GenerateWork(arguments), cut("benchmark", range(count), rows, Shard())


def relabelling(given: Sequence[str], rows: int) -> tuple[Work, list[Chunk]]:
    """The work of fairseq-mcts-relabel on the first of its splits, and its chunks."""
    arguments = [*given, "--out", "unused", "--chunk-rows", str(rows)]
    describe = partial(plan_in_worker, make_parser(arguments).parse_args(arguments))
    [corpus, *_] = describe().open().corpora
    return LabellingWork(describe, [corpus.split]), cut(corpus.split, corpus.rows, rows, Shard())


def compare_workers(work: Work, chunks: Sequence[Chunk], rounds: int) -> None:
    """Prints the ratio of two workers to one."""
    sentences = sum(len(chunk.rows) for chunk in chunks)
    costs: dict[int, list[Cost]] = {1: [], 2: []}
    apart: list[float] = []
    for _ in range(rounds):
        for count, found in costs.items():
            found.append(cost_when_ready(Processes(count), work, chunks))
        apart.append(cost_apart(work, chunks, 2).wall)
    wall, cpu = (
        {count: min(getattr(one, kind) for one in found) for count, found in costs.items()}
        for kind in ("wall", "cpu")
    )
    print(
        f"{sentences:,} sentences in {len(chunks)} chunks; load {os.getloadavg()[0]:.1f} on "
        f"{len(os.sched_getaffinity(0))} cores\n"
        f"one worker: {sentences / wall[1]:.1f} sentences/s, {cpu[1]:.1f} s of processors; two: "
        f"{sentences / wall[2]:.1f} sentences/s, {cpu[2]:.1f} s of processors\n"
        f"two workers over one: {wall[1] / wall[2]:.2f} by the clock, {2 * cpu[1] / cpu[2]:.2f} by "
        f"processor time (aim: {RATIO_BAR}); two single workers that know nothing of one another: "
        f"{2 * wall[1] / min(apart):.2f}"
    )


def compare_commands(given: Sequence[str], rounds: int, work: Path) -> None:
    """Prints what chunks cost beside fairseq-generate."""
    fairseq = fairseq_generate(*given, "--results-path", work / "plain")
    chunked = module("fairseq_mcts.cli.generate", *given, "--out", work / "chunked")
    costs: dict[str, list[float]] = {"plain": [], "chunked": []}
    for _ in range(rounds):
        for name, command in (("plain", fairseq), ("chunked", chunked)):
            shutil.rmtree(work / name, ignore_errors=True)
            costs[name].append(cost(command).cpu)
    plain, in_chunks = (min(found) for found in costs.values())
    print(
        f"fairseq-generate: {plain:.1f} s of processors, fairseq-mcts-generate: {in_chunks:.1f} s; "
        f"chunks cost {in_chunks / plain - 1:+.1%} (aim: {OVERHEAD_BAR:.0%})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chunk-sentences", type=int, default=50, help="of the first comparison")
    parser.add_argument("--only", choices=("workers", "overhead"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--relabel", action="store_true", help="compare workers that relabel, not that translate"
    )
    parser.add_argument(
        "given", nargs="+", help="behind --: options of fairseq-generate or fairseq-mcts-relabel"
    )
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    if options.only != "overhead":
        work_of = relabelling if options.relabel else translating
        compare_workers(*work_of(options.given, options.chunk_sentences), options.rounds)
    if options.only != "workers" and not options.relabel:
        compare_commands(options.given, options.rounds, options.work)


if __name__ == "__main__":
    main()
