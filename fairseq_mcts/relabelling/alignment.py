"""Matches of a metric's pieces of a text, carried over to the policy's tokens of that text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairseq_mcts.data.matches import Codes, codes_of
from fairseq_mcts.metrics.base import FloatArray, PieceMatches
from fairseq_mcts.metrics.text import TextDecoder


def without_spaces(text: str) -> str:
    """The characters that two ways to split a text into words have in common."""
    return "".join(text.split())


def matches_of_tokens(
    text: str,
    token_texts: Sequence[str],  # [T] what each token stands for, without spaces
    matches: PieceMatches,  # of the text
) -> FloatArray:  # [T]
    """The mean match of each token's characters, NaN where that is not known.

    A character's match is that of its piece. Where the tokens' texts are not the text (unknown
    words, escapes, normalisation), nothing is known: no match rather than another token's.
    """
    if "".join(token_texts) != without_spaces(text):
        return np.full(len(token_texts), np.nan)
    # [characters + 1] how many that are no spaces stand before each character, and in all
    place = np.cumsum([0, *(not character.isspace() for character in text)])
    known = np.zeros(place[-1])  # [C] whether a piece covers the character
    match = np.zeros(place[-1])
    for similarity, (begin, end) in zip(matches.similarities, matches.spans, strict=True):
        known[place[begin] : place[end]] = 1.0
        match[place[begin] : place[end]] = similarity
    ends = np.cumsum([0, *map(len, token_texts)])  # [T + 1]
    covered, total = (np.diff(np.cumsum([0.0, *one])[ends]) for one in (known, match))
    with np.errstate(invalid="ignore"):
        return np.where(covered > 0, total / covered, np.nan)


class TokenAligner:
    """Matches of the tokens of one language's sentences."""

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder
        self._texts: dict[int, str] = {}  # of tokens that were met

    def codes(self, tokens: Any, text: str, matches: PieceMatches) -> Codes:
        """[T] of the sentence `tokens` that the metric has read as `text`."""
        ids = tokens.tolist() if hasattr(tokens, "tolist") else tokens
        return codes_of(matches_of_tokens(text, [self._text(one) for one in ids], matches))

    def _text(self, token: int) -> str:
        """A token by itself: subword markers disappear as they do in sentences."""
        if token not in self._texts:
            self._texts[token] = without_spaces(self._decoder.decode([token]))
        return self._texts[token]
