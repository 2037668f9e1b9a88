"""Two threads, or two processes: which makes decoding and relabelling faster, and by how much?

    python benchmarks/threads.py [--size small|base] [--sentences 640] [--json FILE]

V-MCTS by fairseq-mcts-generate and greedy translations with their BLEU by fairseq-mcts-relabel, of
the same chunks: by one process with one thread, by one with two threads, by two with one thread
each, once they have loaded and compiled everything; least times of all rounds. By the clock, which
only tells the truth where two cores are idle: the machine's load is printed. For processes the
processor time of each sentence is compared too: the speed-up that two idle cores would give, but
for what processes wait for one another.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import common
import networks
import workers
from commands import Cost
from relabelling import write_checkpoint, write_corpus

from fairseq_mcts.register import register
from fairseq_mcts.work import Processes

THREADS, PROCESSES = common.at_least(1.6), common.at_least(1.85)
FAMILY = "dual_head_multiquery_transformer"
ENGINES = {
    "one": Processes(1),
    "two threads": Processes(1, threads=2),
    "two processes": Processes(2),
}


def costs_of(kind: str, folder: Path, options: argparse.Namespace) -> dict[str, Cost]:
    """Of one kind of work, by each engine."""
    given = [str(folder), "--path", str(folder / "model.pt"), "--cpu", "--batch-size", "32"]
    given += ["--max-len-b", str(networks.MAX_LENGTH)]
    found: dict[str, list[Cost]] = {name: [] for name in ENGINES}
    for _ in range(options.repeats):
        for name, engine in ENGINES.items():
            own = [*given, "--cpus-per-worker", str(engine.threads)]
            if kind == "decoding":
                searched = ["--search", "mcts", "--search-budget", str(options.simulations)]
                own += ["--gen-subset", "train", *searched]
                work, chunks = workers.translating(own, options.chunk)
            else:
                own += ["--subset", "train", "--metric", "bleu", "--workers", "1"]
                work, chunks = workers.relabelling(own, options.chunk)
            found[name].append(workers.cost_when_ready(engine, work, chunks))
    return {
        name: Cost(min(one.wall for one in each), min(one.cpu for one in each))
        for name, each in found.items()
    }


def compare(kind: str, costs: dict[str, Cost], sentences: int) -> Iterator[common.Comparison]:
    one, threads, processes = (costs[name] for name in ENGINES)
    parts = {f"{name} s": cost.wall for name, cost in costs.items()}
    parts["one sentences/s"] = sentences / one.wall
    yield common.Comparison(
        f"{kind}: one thread / two threads", one.wall / threads.wall, THREADS, parts
    )
    yield common.Comparison(
        f"{kind}: one process / two processes", one.wall / processes.wall, PROCESSES, parts
    )
    yield common.Comparison(
        f"{kind}: one process / two processes, by processor time",
        2 * one.cpu / processes.cpu,
        PROCESSES,
        {"one CPU s": one.cpu, "two CPU s": processes.cpu},
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=640)
    parser.add_argument("--chunk", type=int, default=64, help="sentences of a chunk")
    parser.add_argument("--simulations", type=int, default=20)
    parser.set_defaults(repeats=2)
    options = common.parse(parser, arguments)
    if options.clock != "wall":
        parser.error("--clock cpu: threads are compared by the clock on the wall alone")
    report = common.Report("threads", options, networks.settings())
    register()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, options.size, options.sentences, options.seed)
        write_checkpoint(folder, options.size, options.seed, folder / "model.pt", FAMILY)
        for kind in ("decoding", "relabelling"):
            for comparison in compare(kind, costs_of(kind, folder, options), options.sentences):
                report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
