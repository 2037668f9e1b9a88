"""The metric's similarities for the tokens of rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairseq_mcts.data.similarities import UNKNOWN, Codes, codes_of
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.relabelling.alignment import TokenAligner, token_similarities

Sentences = Sequence[npt.NDArray[np.int64]]

_ROWS_AT_ONCE = 256  # whose similarities of pieces, which are many numbers, are held together


class MatchedRows(NamedTuple):
    """What is known of R rows."""

    similarities: TokenRows | None  # of codes, [T · S] of each row
    rows: int  # with a similarity of any tokens


class RowMatcher:
    """Asks a metric that compares with sources how tokens of samples and sources match."""

    def __init__(self, metric: Metric, texts: TextDecoders) -> None:
        metric.expect_matches()
        self._metric = metric
        self._source, self._target = (TokenAligner(decoder) for decoder in texts)

    def match(
        self,
        sources: Sentences,  # of R rows, as all of these
        samples: Sentences,
        source_texts: Sequence[str],
        sample_texts: Sequence[str],
    ) -> MatchedRows:
        """Similarities of all rows."""
        codes: list[Codes] = []
        for begin in range(0, len(sources), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            pairs = self._metric.token_matches(sample_texts[rows], source_texts[rows])
            for row, pair in enumerate(pairs, start=begin):
                sample = self._target.shares(samples[row], sample_texts[row], pair.hypothesis_spans)
                source = self._source.shares(sources[row], source_texts[row], pair.other_spans)
                codes.append(codes_of(token_similarities(sample, source, pair)).ravel())
        known = sum(bool((row != UNKNOWN).any()) for row in codes)
        return MatchedRows(TokenRows.of(codes), known)
