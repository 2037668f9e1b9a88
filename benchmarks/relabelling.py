"""How many sentences a second does relabelling do, and how much do two processes help?

    python benchmarks/relabelling.py [--size small|base] [--json FILE]

fairseq-mcts-relabel makes the greedy translations of a corpus and their BLEU: once by one process,
once by two that take a shard each and run at the same time, every process with --threads threads.
Clocks start when all processes have done the same for another split, so that everything is imported
and compiled, and stop when the last command has returned: interpreters that start and end are left
out, and so is the merging of the chunks. What every command does first is included, once for one
process and twice at the same time for two: it reads the checkpoint and takes digests of it and of
the data. Both ways must write the same files. Two processes can only be faster where two cores are
idle: the machine's load is printed.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

import common
import networks
import torch
from fairseq import options as fairseq_options
from fairseq import tasks
from fairseq.data import indexed_dataset
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf

from fairseq_mcts.cli import relabel
from fairseq_mcts.register import register

BAR = 1.8
WARM_UP_ROWS = 4
START_SECONDS = 600  # to import and to compile, on a busy machine


def write_corpus(folder: Path, size: str, rows: int, seed: int) -> None:
    """A binarised corpus of random words, sources and references of 12 to 30 tokens."""
    task = networks.make_task(size)
    for number, language in enumerate(("en", "de")):
        task.source_dictionary.save(str(folder / f"dict.{language}.txt"))
        for split, count in (("train", rows), ("valid", WARM_UP_ROWS)):
            sentences = networks.make_sources(task.source_dictionary, count, seed + number)
            random.Random(seed).shuffle(sentences)
            prefix = str(folder / f"{split}.en-de.{language}")
            builder = indexed_dataset.make_builder(
                f"{prefix}.bin", impl="mmap", vocab_size=len(task.source_dictionary)
            )
            for sentence in sentences:
                builder.add_item(sentence)
            builder.finalize(f"{prefix}.idx")


def write_checkpoint(
    data: Path, size: str, seed: int, path: Path, family: str = "multiquery_transformer"
) -> None:
    """A network of `networks`, as fairseq-train saves one."""
    of_plugin = ("--task", "translation_mcts", "--arch", f"{family}_{size}")
    write_network(data, seed, path, *of_plugin, "--decoder-learned-pos")


def write_network(data: Path, seed: int, path: Path, *architecture: str) -> None:
    """A random network of any architecture, given by options of fairseq-train, as it saves one."""
    parser = fairseq_options.get_training_parser()
    given = [str(data), "--source-lang", "en", "--target-lang", "de", *architecture]
    args = fairseq_options.parse_args_and_arch(parser, input_args=given)
    cfg = convert_namespace_to_omegaconf(args)
    model = networks.calibrate(tasks.setup_task(cfg.task).build_model(cfg.model), seed)
    saved = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    state = {
        **{"args": None, "cfg": saved, "model": model.state_dict()},
        "optimizer_history": [{"lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}},
    }
    torch.save(state, path)


class Runs:
    """Runs of fairseq-mcts-relabel on one corpus and policy."""

    def __init__(self, folder: Path, threads: int, chunk_rows: int) -> None:
        self.data, self.policy = folder / "data", folder / "policy.pt"
        self.threads = threads
        self.chunk_rows = chunk_rows
        self.context = multiprocessing.get_context("spawn")

    def seconds(self, out: Path, processes: int) -> float:
        """Of all shards at once; the split is complete in `out` afterwards."""
        barrier = self.context.Barrier(processes + 1)
        workers = [
            self.context.Process(target=self._shard, args=(out, number, processes, barrier))
            for number in range(processes)
        ]
        for worker in workers:
            worker.start()
        begun = ended = 0.0
        with suppress(BrokenBarrierError):  # a worker failed: seen by its exit code
            barrier.wait(START_SECONDS)
            begun = time.perf_counter()
            barrier.wait()
            ended = time.perf_counter()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            logs = [path.read_text(encoding="utf-8") for path in sorted(out.rglob("log.txt"))]
            raise RuntimeError(f"a shard of {processes} failed: {' '.join(logs)[-1000:]}")
        self._command(out, "train", "--merge", "--num-shards", str(processes))
        return ended - begun

    def _shard(self, out: Path, number: int, processes: int, barrier: Any) -> None:
        torch.set_num_threads(self.threads)
        logging.getLogger().setLevel(logging.WARNING)
        recipe = (
            *("--path", str(self.policy), "--metric", "bleu", "--cpu", "--batch-size", "32"),
            *("--max-len-b", str(networks.MAX_LENGTH), "--chunk-rows", str(self.chunk_rows)),
        )
        shard = ("--num-shards", str(processes), "--shard", str(number))
        try:
            self._command(out / f"warm-up-{number}", "valid", *recipe)
            barrier.wait(START_SECONDS)
            self._command(out, "train", *recipe, *shard)
        except BaseException:  # the command exits
            barrier.abort()
            raise
        barrier.wait()

    def _command(self, out: Path, split: str, *given: str) -> None:
        out.mkdir(parents=True, exist_ok=True)
        with (out / "log.txt").open("a") as log, redirect_stdout(log), redirect_stderr(log):
            relabel.main([str(self.data), "--out", str(out), "--subset", split, *given])


def content(out: Path) -> dict[str, bytes]:
    """The files of the split that was made."""
    return {path.name: path.read_bytes() for path in sorted(out.glob("train.*"))}


def measure(options: argparse.Namespace, folder: Path) -> common.Comparison:
    register()
    (folder / "data").mkdir()
    write_corpus(folder / "data", options.size, options.sentences, options.seed)
    write_checkpoint(folder / "data", options.size, options.seed, folder / "policy.pt")
    runs = Runs(folder, options.threads, options.chunk_rows)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(options.repeats):
        for processes, times in seconds.items():
            times.append(runs.seconds(folder / f"out-{processes}-{turn}", processes))
    one, two = (statistics.median(seconds[processes]) for processes in (1, 2))
    return common.Comparison(
        "relabelling, one process / two shards at once",
        one / two,
        common.at_least(BAR),
        {
            **{"one s": one, "two s": two},
            "one sentences/s": options.sentences / one,
            "two sentences/s": options.sentences / two,
        },
        outputs_equal=content(folder / "out-1-0") == content(folder / "out-2-0"),
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=5760)
    # as many chunks for either shard, and whole batches of 32 in each
    parser.add_argument("--chunk-rows", type=int, default=96)
    parser.set_defaults(repeats=1)
    options = common.parse(parser, arguments)
    if options.clock != "wall":
        parser.error("--clock cpu: two processes are compared by the clock on the wall alone")
    report = common.Report("relabelling", options, networks.settings())
    with tempfile.TemporaryDirectory() as folder:
        report.add(measure(options, Path(folder)))
    report.write()
    return report


if __name__ == "__main__":
    main()
