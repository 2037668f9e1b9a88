"""Does the chunking keep its memory, and go on within seconds, at a million lines?

    python benchmarks/million_lines.py [--lines 1000000] [--chunk-sentences 250] --work FOLDER

A synthetic text goes through everything that fairseq-mcts-generate does but for the networks: in
their place stands an evaluator that answers at once, with the source itself. The run is killed with
SIGKILL half-way. Printed are its memory near the beginning and at the end, the time until a second
run has made its first chunk, and whether the joined output holds each line once, in order.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary, LanguagePairDataset

from fairseq_mcts.cli.generate_input import TextLines
from fairseq_mcts.cli.generate_join import OutputFiles, join
from fairseq_mcts.cli.generate_work import COUNTS
from fairseq_mcts.work import (
    Advance,
    Arrays,
    Chunk,
    Here,
    Job,
    Settings,
    Shard,
    Staff,
    cut,
    make_all,
)

_WORDS = 1000
_EARLY = 0.05  # of the lines: memory is then what it takes to begin


class Task:
    """As much of a task as reading text takes."""

    def __init__(self) -> None:
        self.source_dictionary = Dictionary()
        for word in range(_WORDS):
            self.source_dictionary.add_symbol(f"w{word}")

    def get_interactive_tokens_and_lengths(self, lines: list, encode: Callable) -> tuple:
        encoded = (encode(line) for line in lines)
        tokens = [
            self.source_dictionary.encode_line(one, add_if_not_exist=False) for one in encoded
        ]
        return tokens, [len(one) for one in tokens]

    def build_dataset_for_inference(self, tokens: list, lengths: list) -> LanguagePairDataset:
        return LanguagePairDataset(tokens, lengths, self.source_dictionary)


@dataclass(frozen=True)
class Copying:
    """Work that translates each line by itself."""

    text: Path
    chunk_rows: int

    def open(self) -> Copier:
        return Copier(TextLines(Task(), self.text, str, self.chunk_rows))


@dataclass(frozen=True)
class Copier:
    """The stand-in for networks."""

    given: TextLines

    def make(self, chunk: Chunk, advance: Advance) -> Arrays:
        rows = self.given.rows(chunk.rows)
        dictionary = rows.dataset.src_dict
        texts = [dictionary.string(rows.dataset[one]["source"]) for one in rows.indices.tolist()]
        numbered = zip(chunk.rows, texts, strict=True)
        lines = "".join(f"S-{row}\t{text}\nH-{row}\t0.0\t{text}\n" for row, text in numbered)
        plain = "".join(f"{text}\n" for text in texts)
        advance(len(chunk.rows))
        return {
            "lines": np.frombuffer(lines.encode(), np.uint8),
            "plain_text": np.frombuffer(plain.encode(), np.uint8),
            "ids": np.array(chunk.rows, np.int64),
            "left_out": np.zeros((0, 2), np.int64),
            "counts": np.zeros(len(COUNTS), np.int64),
            "failures": np.frombuffer(b"[]", np.uint8),
        }


def write_text(path: Path, lines: int) -> None:
    """Lines of random words."""
    dice = random.Random(0)
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(lines):
            words = dice.choices(range(_WORDS), k=dice.randint(3, 20))
            stream.write(" ".join(f"w{word}" for word in words) + "\n")


def resident() -> float:
    """Memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def translate(options: Namespace) -> None:
    """What the command does, with memory and times on standard output."""
    begun = time.perf_counter()
    work = Copying(options.work / "text", options.chunk_sentences)
    given = work.open().given
    settings: Settings = {"json_lines": False, "rows": len(given)}
    files = OutputFiles(options.work / "out", given.name, plain_text=True)
    chunks = cut(given.name, range(len(given)), options.chunk_sentences, Shard())
    job = Job(given.name, files.store(), settings, chunks, unit="lines")
    job.store.begin(settings, {})
    pending = job.pending()
    write, early = job.store.write, int(_EARLY * len(chunks))
    with Staff(Here(), work) as staff:
        made = make_all(staff.workers(), pending, lambda rows: None)
        for number, (chunk, arrays) in enumerate(made):
            write(chunk.number, settings, arrays)
            if number == 0:
                print(f"first {time.perf_counter() - begun:.1f}", flush=True)
            if number == early:
                print(f"early {resident():.0f}", flush=True)
        print(f"worked {resident():.0f}", flush=True)
        job.complete(staff, partial(join, files, settings, chunks))
    print(f"joined {resident():.0f}", flush=True)


def start(options: Namespace) -> subprocess.Popen[str]:
    """This program in another process, as the one that is killed."""
    sizes = ("--lines", str(options.lines), "--chunk-sentences", str(options.chunk_sentences))
    return subprocess.Popen(
        [sys.executable, __file__, *sizes, "--work", str(options.work), "--child"],
        stdout=subprocess.PIPE,
        text=True,
    )


def is_in_order(options: Namespace) -> bool:
    """Whether each line was translated once, and stands in its place."""
    plain = (options.work / "out" / "translations-text.txt").read_bytes()
    if plain != (options.work / "text").read_bytes():
        return False
    with (options.work / "out" / "generate-text.txt").open(encoding="utf-8") as stream:
        numbers = (int(line[2 : line.index("\t")]) for line in stream)
        return all(number == place // 2 for place, number in enumerate(numbers))


def main(arguments: Sequence[str] | None = None) -> bool:
    """Prints the figures; whether everything is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--chunk-sentences", type=int, default=250)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        translate(options)
        return True
    options.work.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(options.work / "out", ignore_errors=True)
    write_text(options.work / "text", options.lines)
    half = options.lines // options.chunk_sentences // 2
    chunks = options.work / "out" / "generate-chunks" / "text"
    begun = time.perf_counter()
    process = start(options)
    while not (chunks / f"chunk-{half:08d}.npz").exists():
        if process.poll() is not None:
            raise RuntimeError("the run ended before it could be killed")
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    first, _ = process.communicate()
    second = start(options)
    output, _ = second.communicate()
    if second.returncode:
        raise RuntimeError(f"the second run failed with {second.returncode}")
    seconds = time.perf_counter() - begun
    before = dict(line.split() for line in first.splitlines())
    after = dict(line.split() for line in output.splitlines())
    good = is_in_order(options)
    print(
        f"{options.lines:,} lines in chunks of {options.chunk_sentences}: {seconds:.0f} s; memory "
        f"after {_EARLY:.0%} {before['early']} MiB, at the end {after['worked']} MiB, joined "
        f"{after['joined']} MiB; after a kill at 50% the first new chunk came in "
        f"{after['first']} s; each line once and in order: {'yes' if good else 'NO'}"
    )
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
