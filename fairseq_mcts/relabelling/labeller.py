"""One chunk of the corpus, translated and scored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from fairseq_mcts.data.scored_folder import ROW, Rows, ScoredRows, Scores, first_bad_score
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.relabelling.chunks import Counts
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.policy import Sampler, Tokens
from fairseq_mcts.relabelling.sampling import METHODS
from fairseq_mcts.relabelling.settings import RelabellingError


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

    sampler: Sampler
    metric: Metric
    texts: TextDecoders
    limits: BatchLimits

    def label(
        self, corpus: Corpus, rows: range, advance: Callable[[int], object]
    ) -> tuple[ScoredRows, Counts]:
        """Scored rows of these rows of the corpus; `advance` is told of rows done."""
        sizes = np.asarray(corpus.sources.sizes[rows.start : rows.stop])
        fitting = rows.start + np.flatnonzero(sizes <= self.sampler.source_positions)
        sources = [corpus.sources[row] for row in fitting.tolist()]
        references = [corpus.references[row] for row in fitting.tolist()]
        advance(len(sizes) - len(fitting))
        samples = self._samples(sources, advance)

        # each sample is a row: sources and references come as often as they have samples
        of_sample = [row for row, several in enumerate(samples) for _ in several]
        flat = [sample for several in samples for sample in several]
        texts = [self.texts.target.decode(sample) for sample in flat]
        scores = self._scores(texts, sources, references, of_sample, fitting)
        scored = ScoredRows(
            TokenRows.of([sources[row].numpy() for row in of_sample]),
            TokenRows.of(flat),
            TokenRows.of([references[row].numpy() for row in of_sample]),
            scores,
            self._rows(fitting[of_sample]),
        )
        counts = Counts(
            rows=len(flat),
            skipped=len(sizes) - len(fitting),
            empty=sum(not text.strip() for text in texts),
            exact=sum(
                sample.tolist() == references[row].tolist()
                for sample, row in zip(flat, of_sample, strict=True)
            ),
        )
        return scored, counts

    def _rows(self, sources: npt.NDArray[np.int64]) -> Rows:
        """What the folder says of rows of these sources [R]."""
        rows = np.zeros(len(sources), ROW)
        rows["source"] = sources
        rows["method"] = METHODS.index(self.sampler.method)
        return rows

    def _samples(
        self, sources: Sequence[Tensor], advance: Callable[[int], object]
    ) -> list[list[Tokens]]:
        samples: list[list[Tokens]] = [[] for _ in sources]
        for batch in self.limits.batches([len(source) for source in sources]):
            results = self.sampler.sample([sources[position] for position in batch])
            for position, result in zip(batch, results, strict=True):
                samples[position] = result
            advance(len(batch))
        return samples

    def _scores(
        self,
        texts: list[str],
        sources: Sequence[Tensor],
        references: Sequence[Tensor],
        of_sample: list[int],
        corpus_rows: npt.NDArray[np.int64],  # [S]
    ) -> Scores:
        if self.metric.privileged:
            # unknown words of references are escaped: no sample is to earn by its own <unk>
            others = self.texts.target.decode_batch(references, escape_unk=True)
        else:
            others = self.texts.source.decode_batch(sources)
        paired = [others[row] for row in of_sample]
        scores = np.asarray(self.metric.score(texts, paired), np.float32)
        low, high = self.metric.range
        bad = first_bad_score(scores, low, high)
        if bad is not None:
            raise RelabellingError(
                f"--metric {self.metric.name}: gives {scores[bad]} for row "
                f"{corpus_rows[of_sample[bad]]}, no number in [{low}, {high}]; "
                f"hypothesis: {texts[bad]!r}; {self.metric.compares_with}: {paired[bad]!r}"
            )
        return scores
