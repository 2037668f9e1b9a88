"""Relabelling, measured on as many sources at a time as are decoded together."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from fairseq.data.indexed_dataset import best_fitting_int_dtype

from fairseq_mcts.data.matches import TokenMatches
from fairseq_mcts.data.scored_folder import ROW, ScoredRows
from fairseq_mcts.planning.measuring import Stopwatch
from fairseq_mcts.planning.rates import BatchCost
from fairseq_mcts.planning.sampling import in_spread_order, whole
from fairseq_mcts.relabelling.chunks import as_arrays
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.labeller import Labeller
from fairseq_mcts.relabelling.labelling_work import LabellingWork
from fairseq_mcts.relabelling.plan import Plan
from fairseq_mcts.work import Shard, cut

# bytes of a row beside its tokens: length and offset of three sentences, the score, and ROW
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
        batches = [rows for corpus in data.corpora for rows in _batches(plan, corpus)]
        relabelling.cost(Rows(batches[0].corpus, batches[0].rows[:1]))
        in_order = in_spread_order(batches)
        return Stopwatch(lambda turn: in_order, relabelling.cost)


def _batches(plan: Plan, corpus: Corpus) -> list[Rows]:
    size = _batch_rows(plan, corpus)
    chunks = whole(cut(corpus.split, corpus.rows, size, Shard()), size)
    return [Rows(corpus, chunk.rows) for chunk in chunks]


def _batch_rows(plan: Plan, corpus: Corpus) -> int:
    """How many sources of mean length a batch has, and no more than a chunk."""
    rows = corpus.rows
    length = float(np.mean(corpus.sources.sizes[rows.start : rows.stop]))
    fitting = plan.limits.sentences or max(int(plan.limits.tokens / length), 1)
    return min(fitting, plan.recipe.chunk_rows, len(rows))


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
        sizes = batch.corpus.sources.sizes[batch.rows.start : batch.rows.stop]
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
            + (0 if rows.matches is None else _match_bytes(rows.matches, len(rows.scores)))
        )


def _match_bytes(matches: TokenMatches, rows: int) -> int:
    """Of the matches' files: codes, and length and offset of each row."""
    return sum(codes.nbytes + rows * (4 + 8) for codes in matches)
