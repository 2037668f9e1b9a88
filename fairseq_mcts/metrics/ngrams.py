"""N-grams that texts have in common, for all pairs of some texts at once.

Symbols (characters or words) are numbers here, and so are n-grams: one of order n is the pair of
its first n - 1 symbols and its last. How often two texts share an n-gram, the smaller of two
counts, is the number of thresholds t ≥ 1 that both counts reach; so for all pairs it is a sum of
products of matrices of zeros and ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairseq_mcts.metrics.base import FloatArray

Symbols = npt.NDArray[np.int64]  # [length]
Counts = npt.NDArray[np.float32]  # exact: no text has 2**24 n-grams


class NgramMatches(NamedTuple):
    """N-grams of N orders of H hypotheses and R references."""

    hypotheses: FloatArray  # [N, H, 1]
    references: FloatArray  # [N, 1, R]
    shared: FloatArray  # [N, H, R]


def numbered(texts: Sequence[Sequence[str]]) -> list[Symbols]:
    """Texts of words, each word as a number."""
    numbers: dict[str, int] = {}
    return [
        np.array([numbers.setdefault(word, len(numbers)) for word in text], np.int64)
        for text in texts
    ]


def count_ngrams(texts: Sequence[Symbols], order: int) -> list[Counts]:
    """For each order up to `order` [T, G] how often each text has each of G n-grams."""
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])  # [L]
    symbols = np.concatenate([*texts, np.zeros(0, np.int64)])  # [L]
    vocabulary, single = np.unique(symbols, return_inverse=True)
    ngrams = single
    counts = []
    for length in range(1, order + 1):
        if length > 1:
            # an n-gram begins at each place whose text goes on as far
            pairs = ngrams[: max(len(symbols) - length + 1, 0)] * len(vocabulary)
            pairs = pairs + single[length - 1 :]
            ngrams = np.unique(pairs, return_inverse=True)[1]
        begin = owners[: len(ngrams)]
        whole = begin == owners[length - 1 :]  # [places]
        width = int(ngrams.max(initial=-1)) + 1
        cells = begin[whole] * width + ngrams[whole]
        table = np.bincount(cells, minlength=len(texts) * width)
        counts.append(table.reshape(len(texts), width).astype(np.float32))
    return counts


def match_pairs(
    counts: Sequence[Counts], hypotheses: Sequence[int], references: Sequence[int]
) -> NgramMatches:
    """Every hypothesis with every reference; both are rows of `counts`."""
    totals = np.array([table.sum(axis=1) for table in counts], np.float64)  # [N, T]
    shared = [_shared(table[hypotheses], table[references]) for table in counts]
    return NgramMatches(
        totals[:, hypotheses, None], totals[:, None, references], np.array(shared, np.float64)
    )


def match_mean(
    counts: Sequence[Counts],
    hypotheses: Sequence[int],
    references: Sequence[int],
    weights: FloatArray,  # [R]
) -> NgramMatches:
    """Every hypothesis with one reference that has the mean of all references' n-grams."""
    means = [weights @ table[references] for table in counts]  # [N][G]
    pairs = zip(counts, means, strict=True)
    shared = [np.minimum(table[hypotheses], mean).sum(axis=1) for table, mean in pairs]
    totals = [table[hypotheses].sum(axis=1) for table in counts]
    return NgramMatches(
        np.array(totals, np.float64)[:, :, None],
        np.array([mean.sum() for mean in means])[:, None, None],
        np.array(shared, np.float64)[:, :, None],
    )


def _shared(hypotheses: Counts, references: Counts) -> Counts:
    """[H, R] sums over n-grams of the smaller count, from counts [H, G] and [R, G]."""
    shared = np.zeros((len(hypotheses), len(references)), np.float32)
    greatest = np.minimum(hypotheses.max(axis=0, initial=0), references.max(axis=0, initial=0))
    threshold = 1
    while True:
        reached = greatest >= threshold  # [G]
        if not reached.any():
            return shared
        hypotheses, references = hypotheses[:, reached], references[:, reached]
        greatest = greatest[reached]
        shared += (hypotheses >= threshold).astype(np.float32) @ (references >= threshold).T.astype(
            np.float32
        )
        threshold += 1
