"""The metric's matches for the tokens of rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairseq_mcts.data.matches import UNKNOWN, Codes, TokenMatches
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.relabelling.alignment import TokenAligner

Sentences = Sequence[npt.NDArray[np.int64]]


class MatchedRows(NamedTuple):
    """What is known of R rows."""

    matches: TokenMatches | None
    rows: int  # with a match of any token


class RowMatcher:
    """Asks a metric that compares with sources which tokens of samples and sources match."""

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
        """Matches of all rows."""
        none = np.zeros(0, np.uint16)
        of_sources, of_samples = [none], [none]
        known = 0
        pairs = self._metric.token_matches(sample_texts, source_texts) if sources else []
        for row, pair in enumerate(pairs):
            source = self._source.codes(sources[row], source_texts[row], pair.other)
            sample = self._target.codes(samples[row], sample_texts[row], pair.hypothesis)
            known += _has_any(source) or _has_any(sample)
            of_sources.append(source)
            of_samples.append(sample)
        return MatchedRows(TokenMatches(*map(np.concatenate, (of_sources, of_samples))), known)


def _has_any(codes: Codes) -> bool:
    return bool((codes != UNKNOWN).any())
