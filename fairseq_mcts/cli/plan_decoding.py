"""Decoding under a stopwatch: chunks as fairseq-mcts-generate translates them, by its own code."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.cli.generate_config import add_chunk_options
from fairseq_mcts.cli.generate_work import COUNTS, GenerateWork, TranslationMaker
from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.planning.measuring import FEWEST_BATCHES, Stopwatch, Turn
from fairseq_mcts.planning.options import PROGRAM, add_plan_options
from fairseq_mcts.planning.rates import BatchCost
from fairseq_mcts.planning.sampling import in_spread_order, whole
from fairseq_mcts.subset.parsing import generation_parser
from fairseq_mcts.work import Chunk, Shard, cut

# that fill calls of the network well: what slow decoders are measured on at least
_FEWEST_SENTENCES = 32


def make_parser() -> argparse.ArgumentParser:
    """Options of fairseq-mcts-generate that decide what it takes, and those of the plan."""
    parser = generation_parser(
        PROGRAM,
        "Tell how long it will take to decode a large corpus, and what memory and disk it needs: "
        "decodes chunks of --gen-subset or --input for a minute as fairseq-mcts-generate would "
        "with these options, alone and in several processes at once. With --work relabel the same "
        f"for fairseq-mcts-relabel, with its options: {PROGRAM} --work relabel --help.",
    )
    own = add_plan_options(parser)
    chunks = parser.add_argument_group("work in chunks")
    add_chunk_options(chunks)
    return in_one_style(parser, "plan", [own, chunks])


class DecodingWork:
    """See `work.Work`."""

    def __init__(self, arguments: Sequence[str], chunk_sentences: int) -> None:
        self._work = GenerateWork(arguments, make_parser)
        self._chunk_sentences = chunk_sentences

    def open(self) -> Stopwatch[Chunk]:
        """Loads networks, and code that is compiled when it is first used."""
        maker = self._work.open()
        if not len(maker.given):
            raise ValueError(f"--gen-subset {maker.given.name}: holds no sentences")
        decoding = Decoding(maker, self._chunk_sentences)
        decoding.cost(Chunk(maker.given.name, 0, range(1)))
        return Stopwatch(decoding.batches, decoding.cost)


@dataclass(frozen=True)
class Decoding:
    """A worker of fairseq-mcts-generate, and how much it is given at a time."""

    maker: TranslationMaker
    chunk_sentences: int

    def batches(self, turn: Turn) -> list[Chunk]:
        """Chunks, or as much of each as there is time for."""
        given = self.maker.given
        sentences = turn.sentences or self._fitting(turn.seconds / FEWEST_BATCHES)
        chunks = cut(given.name, range(len(given)), sentences, Shard())
        return in_spread_order(whole(chunks, sentences))

    def _fitting(self, seconds: float) -> int:
        """How many sentences are decoded in that time, up to those of a chunk."""
        given, batch = self.maker.given, self.maker.cfg.dataset.batch_size
        most = max(min(self.chunk_sentences, len(given) // FEWEST_BATCHES), 1)
        least = min(batch or most, _FEWEST_SENTENCES, most)
        if least == most:
            return most
        tried = self.cost(Chunk(given.name, 0, range(least)))
        return min(max(int(least * seconds / tried.seconds), least), most)

    def cost(self, chunk: Chunk) -> BatchCost:
        """What translating some sentences costs."""
        begun = time.perf_counter()
        made = self.maker.make(chunk, lambda sentences: None)
        seconds = time.perf_counter() - begun
        counts = dict(zip(COUNTS, made["counts"].tolist(), strict=True))
        rows = self.maker.given.rows(chunk.rows)
        written = {"lines": "lines", "text": "plain_text"}
        if self.maker.candidates is not None:
            written["json"] = "json_lines"
        return BatchCost(
            sentences=len(chunk.rows),
            seconds=seconds,
            source_tokens=int(rows.dataset.src_sizes[rows.indices].sum()),
            rows=len(made["ids"]),
            tokens=counts["tokens"],
            evaluations={name: counts[name] for name in ("charged", "made")},
            disk={
                **{name: made[array].nbytes for name, array in written.items()},
                "chunks": sum(array.nbytes for array in made.values()),
            },
        )
