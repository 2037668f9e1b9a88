"""Writes a parallel corpus drawn from the demo grammar: train, valid and test, without overlap.

python -m examples.demo.language.corpus --out DIR [--train N] [--valid N] [--test N] [--seed S]
    [--words N] [--simple]
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from examples.demo.language.sampling.sentences import draw

MIN_WORDS, MAX_WORDS = 3, 25
# The grammar is taken to be exhausted when this many draws in a row bring nothing new.
PATIENCE = 20_000

Pair = tuple[str, str]


@dataclass(frozen=True)
class Extent:
    """How much of the grammar is used."""

    words: int | None = None
    """Of a kind to choose from, the most frequent ones; None for all."""
    simple: bool = False
    """Statements and plain questions alone, in one German style."""


WHOLE_GRAMMAR = Extent()


class CorpusError(ValueError):
    """A request that the grammar cannot serve."""


@dataclass(frozen=True)
class Corpus:
    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]

    def splits(self) -> Iterator[tuple[str, list[Pair]]]:
        yield "train", self.train
        yield "valid", self.valid
        yield "test", self.test


def distinct_pairs(seed: int, extent: Extent = WHOLE_GRAMMAR) -> Iterator[Pair]:
    """Draw pairs of suitable length, no English sentence twice."""
    rng = Random(seed)
    seen: set[str] = set()
    idle = 0
    while idle < PATIENCE:
        pair = draw(rng, extent.words, simple=extent.simple)
        lengths = [len(side.split()) for side in pair]
        if pair[0] in seen or min(lengths) < MIN_WORDS or max(lengths) > MAX_WORDS:
            idle += 1
            continue
        idle = 0
        seen.add(pair[0])
        yield pair


def make_corpus(
    train: int, valid: int, test: int, seed: int, extent: Extent = WHOLE_GRAMMAR
) -> Corpus:
    """Draw three parts; no English sentence occurs in two of them."""
    if extent.words is not None and extent.words < 2:
        raise CorpusError(f"--words must be at least 2, but is {extent.words}")
    for option, count in (("--train", train), ("--valid", valid), ("--test", test)):
        if count < 0:
            raise CorpusError(f"{option} must not be negative, but is {count}")
    # Test and valid come first, so that a larger training set leaves them as they were.
    pairs = list(take(distinct_pairs(seed, extent), test + valid + train))
    return Corpus(test=pairs[:test], valid=pairs[test : test + valid], train=pairs[test + valid :])


def take(pairs: Iterator[Pair], count: int) -> Iterator[Pair]:
    for taken in range(count):
        pair = next(pairs, None)
        if pair is None:
            raise CorpusError(
                f"the grammar gave {taken} distinct pairs, but --train, --valid and --test "
                f"ask for {count} together"
            )
        yield pair


def write_corpus(corpus: Corpus, folder: Path) -> None:
    """Write ``train.en``, ``train.de`` and so on; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in corpus.splits():
        for side, language in enumerate(("en", "de")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            write_atomically(folder / f"{split}.{language}", text)


def write_atomically(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(text.encode("utf-8"))  # bytes: the same line ends on every platform
    os.replace(partial, path)


def summary(corpus: Corpus) -> str:
    """Describe a corpus: sizes, vocabulary, lengths and a few samples."""
    lines = []
    for split, pairs in corpus.splits():
        if not pairs:
            lines.append(f"{split:5}  0 pairs")
            continue
        parts = []
        for side, language in enumerate(("en", "de")):
            words = [word for pair in pairs for word in pair[side].rstrip(".?!").split()]
            parts.append(
                f"{language}: {len(words)} words, {len(set(words))} distinct, "
                f"{len(words) / len(pairs):.1f} a sentence"
            )
        lines.append(f"{split:5}  {len(pairs)} pairs  {'  '.join(parts)}")
    lines.extend(f"  {source}  →  {target}" for source, target in corpus.train[:4])
    return "\n".join(lines)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo.language.corpus",
        description="Write an English–German parallel corpus drawn from a small grammar.",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the six files")
    parser.add_argument("--train", type=int, default=30_000, help="training pairs")
    parser.add_argument("--valid", type=int, default=1_000, help="validation pairs")
    parser.add_argument("--test", type=int, default=1_000, help="test pairs")
    parser.add_argument("--seed", type=int, default=1, help="seed: the same gives the same files")
    parser.add_argument(
        "--words", type=int, help="of a kind to choose from, the most frequent ones (default: all)"
    )
    parser.add_argument(
        "--simple", action="store_true", help="statements and plain questions alone, in one style"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        extent = Extent(options.words, options.simple)
        corpus = make_corpus(options.train, options.valid, options.test, options.seed, extent)
        write_corpus(corpus, options.out)
    except (CorpusError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(summary(corpus))
    return 0


if __name__ == "__main__":
    sys.exit(main())
