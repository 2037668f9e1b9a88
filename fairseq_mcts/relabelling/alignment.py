"""Similarities of a metric's pieces of two texts, carried over to the policy's tokens of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairseq_mcts.metrics.base import FloatArray, IntArray, PairMatches
from fairseq_mcts.metrics.text import TextDecoder


def without_spaces(text: str) -> str:
    """The characters that two ways to split a text into words have in common."""
    return "".join(text.split())


def piece_shares(
    text: str,
    token_texts: Sequence[str],  # [T] what each token stands for, without spaces
    spans: IntArray,  # [P, 2] of pieces of the text
) -> FloatArray:  # [T, P]
    """Which part of each token's characters belongs to which piece; NaN where none does.

    Characters outside of all pieces are left out. Where the tokens' texts are not the text (unknown
    words, escapes, normalisation), nothing is known: no piece rather than another token's.
    """
    if "".join(token_texts) != without_spaces(text):
        return np.full((len(token_texts), len(spans)), np.nan)
    # [characters + 1] how many that are no spaces stand before each character, and in all
    place = np.cumsum([0, *(not character.isspace() for character in text)])
    ends = np.cumsum([0, *map(len, token_texts)])  # [T + 1]
    pieces = place[spans]  # [P, 2]
    first = np.maximum(ends[:-1, None], pieces[None, :, 0])  # [T, P]
    last = np.minimum(ends[1:, None], pieces[None, :, 1])
    common = np.maximum(last - first, 0).astype(np.float64)
    total = common.sum(axis=1, keepdims=True)  # [T, 1]
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, common / total, np.nan)


class TokenAligner:
    """The pieces of the tokens of one language's sentences."""

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder
        self._texts: dict[int, str] = {}  # of tokens that were met

    def shares(self, tokens: Any, text: str, spans: IntArray) -> FloatArray:
        """[T, P] of the sentence `tokens` that the metric has read as `text`."""
        ids = tokens.tolist() if hasattr(tokens, "tolist") else tokens
        return piece_shares(text, [self._text(one) for one in ids], spans)

    def _text(self, token: int) -> str:
        """A token by itself: subword markers disappear as they do in sentences."""
        if token not in self._texts:
            self._texts[token] = without_spaces(self._decoder.decode([token]))
        return self._texts[token]


def token_similarities(sample: FloatArray, source: FloatArray, matches: PairMatches) -> FloatArray:
    """[T, S] from the shares [T, P] and [S, Q]: the mean over a pair of tokens' characters, NaN
    where that is not known."""
    if not matches.similarities.size:
        return np.full((len(sample), len(source)), np.nan)
    return sample @ matches.similarities @ source.T
