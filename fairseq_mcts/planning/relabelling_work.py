"""Relabelling, measured on parts of chunks, as large as there is time for: batches are joined."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from fairseq.data.indexed_dataset import best_fitting_int_dtype

from fairseq_mcts.data.scored_folder import ROW, ScoredRows
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.planning.measuring import FEWEST_BATCHES, Stopwatch, Turn
from fairseq_mcts.planning.rates import BatchCost
from fairseq_mcts.planning.sampling import in_spread_order, whole
from fairseq_mcts.relabelling.chunks import as_arrays
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.labeller import Labeller
from fairseq_mcts.relabelling.labelling_work import LabellingWork
from fairseq_mcts.relabelling.plan import Plan
from fairseq_mcts.work import Shard, cut

# bytes of a row beside its tokens: length and offset of three sentences, the score, and ROW
_ROWS_FOR_LENGTHS = 10_000
_ROW_BYTES = 3 * (4 + 8) + 4 + ROW.itemsize


class Rows(NamedTuple):
    """Sources that are relabelled together."""

    corpus: Corpus
    rows: range


@dataclass(frozen=True)
class RelabellingWork:
    """See `work.Work`."""

    describe: Callable[[], Plan]  # is sent to workers

    def open(self) -> Stopwatch[Rows]:
        """Loads networks and metric, and code that is compiled when it is first used."""
        plan = self.describe()
        data = plan.open()
        splits = [corpus.split for corpus in data.corpora]
        maker = LabellingWork(self.describe, splits, (plan, data)).open()
        dictionaries = (data.task.source_dictionary, data.task.target_dictionary)
        source, target = (best_fitting_int_dtype(len(one))().itemsize for one in dictionaries)
        relabelling = _Relabelling(maker.labeller, source, target)
        sources = _Sources(plan, data.corpora, relabelling.cost)
        relabelling.cost(Rows(data.corpora[0], data.corpora[0].rows[:1]))
        return Stopwatch(sources.batches, relabelling.cost)


@dataclass(frozen=True)
class _Sources:
    """Which sources are relabelled together."""

    plan: Plan
    corpora: Sequence[Corpus]
    cost: Callable[[Rows], BatchCost]

    def batches(self, turn: Turn) -> list[Rows]:
        """Chunks, or as much of each as there is time for."""
        size = turn.sentences or self._fitting(turn.seconds / FEWEST_BATCHES)
        return in_spread_order(
            [
                Rows(corpus, chunk.rows)
                for corpus in self.corpora
                for chunk in whole(cut(corpus.split, corpus.rows, size, Shard()), size)
            ]
        )

    def _fitting(self, seconds: float) -> int:
        """How many sources are relabelled in that time: from a batch's to a chunk's."""
        shortest = min(len(corpus.rows) for corpus in self.corpora)
        most = min(self.plan.recipe.chunk_rows, shortest)
        least = min(_batch_rows(self.plan, self.corpora[0]), most)
        most = max(min(most, shortest // FEWEST_BATCHES), least)
        if least == most:
            return most
        tried = self.cost(Rows(self.corpora[0], self.corpora[0].rows[:least]))
        return min(max(int(least * seconds / tried.seconds), least), most)


def _batch_rows(plan: Plan, corpus: Corpus) -> int:
    """How many sources of mean length a batch has; the first ones tell, a text may be long."""
    length = float(np.mean(corpus.lengths(corpus.rows[:_ROWS_FOR_LENGTHS])))
    return plan.limits.sentences or max(int(plan.limits.tokens / length), 1)


@dataclass(frozen=True)
class _Relabelling:
    labeller: Labeller
    source_token_bytes: int
    target_token_bytes: int

    def cost(self, batch: Rows) -> BatchCost:
        """What relabelling some sources costs."""
        begun = time.perf_counter()
        rows, counts = self.labeller.label(batch.corpus, batch.rows, lambda done: None)
        seconds = time.perf_counter() - begun
        sizes = batch.corpus.lengths(batch.rows)
        return BatchCost(
            sentences=len(batch.rows),
            seconds=seconds,
            source_tokens=int(np.sum(sizes)),
            rows=counts.rows,
            tokens=len(rows.samples.tokens),
            evaluations={},
            disk={
                "data": self._data_bytes(rows),
                "chunks": sum(one.nbytes for one in as_arrays(rows, counts).values()),
            },
        )

    def _data_bytes(self, rows: ScoredRows) -> int:
        """Of the folder with scores."""
        target_tokens = len(rows.samples.tokens) + len(rows.references.tokens)
        return (
            len(rows.sources.tokens) * self.source_token_bytes
            + target_tokens * self.target_token_bytes
            + len(rows.scores) * _ROW_BYTES
            + (0 if rows.similarities is None else _similarity_bytes(rows.similarities))
        )


def _similarity_bytes(similarities: TokenRows) -> int:
    """Of the file: codes, and length and offset of each row."""
    return 2 * len(similarities.tokens) + len(similarities.sizes) * (4 + 8)
