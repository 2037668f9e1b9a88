"""One chunk of the corpus, translated and scored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from fairseq_mcts.data.scored_folder import ROW, Rows, ScoredRows, Scores
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.generators.failures import FailedSentenceError
from fairseq_mcts.generators.joining import joined
from fairseq_mcts.metrics.base import with_sources
from fairseq_mcts.metrics.checks import BadScoreError
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.relabelling.checked_metric import CheckedMetric
from fairseq_mcts.relabelling.chunks import Counts
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.row_matches import MatchedRows, RowMatcher
from fairseq_mcts.relabelling.rows import METHODS, Batch, LabelledRow, RowMaker, distinct


@dataclass(frozen=True)
class BatchLimits:
    """How many sources are decoded together; no result depends on it."""

    tokens: int  # of sources, padding counted
    sentences: int | None = None

    def batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Positions in `lengths`, the longest first, so that batches have little padding."""
        batch: list[int] = []
        for position in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
            full = batch and (len(batch) + 1) * lengths[batch[0]] > self.tokens
            if full or len(batch) == self.sentences:
                yield batch
                batch = []
            batch.append(position)
        if batch:
            yield batch


@dataclass(frozen=True)
class Labeller:
    """Makes scored rows of a corpus' rows; each depends on its own corpus row alone."""

    makers: Sequence[RowMaker]
    metric: CheckedMetric
    texts: TextDecoders
    limits: BatchLimits
    source_positions: int  # of the policy: longer sources are left out
    matcher: RowMatcher | None = None  # None: rows get no matches of tokens

    def label(
        self, corpus: Corpus, rows: range, advance: Callable[[int], object]
    ) -> tuple[ScoredRows, Counts]:
        """Scored rows of these rows of the corpus; `advance` is told of rows done."""
        fitting = corpus.fitting(rows, self.source_positions)
        sources = [corpus.sources[row] for row in fitting.tolist()]
        references = [corpus.references[row] for row in fitting.tolist()]
        if self.metric.privileged:
            # unknown words of references are escaped: no sample is to earn by its own <unk>
            others = self.texts.target.decode_batch(references, escape_unk=True)
            if self.metric.reads_source:
                others = with_sources(others, self.texts.source.decode_batch(sources))
        else:
            others = self.texts.source.decode_batch(sources)
        advance(len(rows) - len(fitting))
        try:
            made = self._made(sources, others, advance)
            # each sample is a row: sources and references come as often as they have samples
            of_row = [place for place, several in enumerate(made) for _ in several]
            flat = [row for several in made for row in several]
            texts = [self.texts.target.decode(row.tokens) for row in flat]
            others_of_rows = [others[place] for place in of_row]
            scores = self._scores(flat, texts, others_of_rows, fitting[of_row])
        except FailedSentenceError as error:
            raise RelabellingError(f"row {fitting[error.place]}: {error.reason}") from error
        samples = [np.array(row.tokens, np.int64) for row in flat]
        sources_of_rows = [sources[place].numpy() for place in of_row]
        matched = MatchedRows(None, 0)
        if self.matcher is not None:
            matched = self.matcher.match(sources_of_rows, samples, others_of_rows, texts)
        scored = ScoredRows(
            TokenRows.of(sources_of_rows),
            TokenRows.of(samples),
            TokenRows.of([references[place].numpy() for place in of_row]),
            scores,
            _rows(flat, fitting[of_row]),
            matched.similarities,
        )
        counts = Counts(
            rows=len(flat),
            skipped=len(rows) - len(fitting),
            empty=sum(not text.strip() for text in texts),
            exact=sum(
                sample.tolist() == references[place].tolist()
                for sample, place in zip(samples, of_row, strict=True)
            ),
            matched=matched.rows,
        )
        return scored, counts

    def _made(
        self, sources: Sequence[Tensor], others: Sequence[str], advance: Callable[[int], object]
    ) -> list[list[LabelledRow]]:
        """The rows of each source; where several makers share the work, none comes twice."""
        made: list[list[LabelledRow]] = [[] for _ in sources]
        batches, at_once = joined([*self.limits.batches([len(source) for source in sources])])
        for places in batches:
            of_places = ([sources[one] for one in places], [others[one] for one in places])
            batch = Batch(*of_places, at_once)
            for maker in self.makers:
                for place, rows in zip(places, self._of_maker(maker, batch, places), strict=True):
                    made[place] += rows
            advance(len(places))
        return [distinct(rows) for rows in made] if len(self.makers) > 1 else made

    def _of_maker(
        self, maker: RowMaker, batch: Batch, places: Sequence[int]
    ) -> list[list[LabelledRow]]:
        try:
            return maker.make(batch)
        except FailedSentenceError as error:
            raise FailedSentenceError(str(error), places[error.place], error.reason) from error

    def _scores(
        self,
        rows: Sequence[LabelledRow],
        texts: Sequence[str],
        others: Sequence[str],
        sources: npt.NDArray[np.int64],  # [R] their rows of the corpus
    ) -> Scores:
        """[R]; the metric is asked for those that have none yet."""
        scores = np.array([np.nan if row.score is None else row.score for row in rows], np.float32)
        missing = [place for place, row in enumerate(rows) if row.score is None]
        asked = (
            [texts[place] for place in missing],
            [others[place] for place in missing],
            [rows[place].likelihood for place in missing],
        )
        try:
            scores[missing] = self.metric.score_likely(*asked) if missing else []
        except BadScoreError as error:
            row = sources[missing[next(iter(error.scores))]]
            raise RelabellingError(
                f"--metric {error.metric}: gives {error.score} for row {row}, {error.what}"
            ) from error
        return scores


def _rows(rows: Sequence[LabelledRow], sources: npt.NDArray[np.int64]) -> Rows:
    """What the folder says of rows [R] of these sources [R]."""
    table = np.zeros(len(rows), ROW)
    table["source"] = sources
    table["first"] = [row.first for row in rows]
    table["method"] = [METHODS.index(row.method) for row in rows]
    return table
