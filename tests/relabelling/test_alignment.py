"""Similarities of pieces become those of tokens, or none: never those of another token."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from fairseq.data import Dictionary
from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.metrics.base import IntArray, PairMatches
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.relabelling.alignment import TokenAligner, piece_shares, token_similarities

WORDS = st.lists(st.text("abäß漢😀.-", min_size=1, max_size=8), max_size=6)
SPACES = st.sampled_from([" ", "  ", "\u3000", "\t"])


class Split(NamedTuple):
    """A text, cut in two ways."""

    text: str
    tokens: list[str]
    spans: IntArray  # [P, 2] of pieces


@st.composite
def cuts(draw: Any, text: str) -> list[tuple[int, int]]:
    """Parts of a text, none of which holds a space, one after the other."""
    edges = {0, len(text)}
    for place, character in enumerate(text):
        if character.isspace():
            edges |= {place, place + 1}
        elif draw(st.booleans()):
            edges.add(place)
    return [span for span in pairwise(sorted(edges)) if not text[slice(*span)].isspace()]


@st.composite
def splits(draw: Any) -> Split:
    text = "".join(word + draw(SPACES) for word in draw(WORDS))
    tokens = [text[begin:end] for begin, end in draw(cuts(text))]
    for _ in range(draw(st.integers(0, 2))):  # such as eos
        tokens.insert(draw(st.integers(0, len(tokens))), "")
    spans = [span for span in draw(cuts(text)) if draw(st.integers(0, 4))]  # not all are judged
    return Split(text, tokens, np.array(spans, np.int64).reshape(-1, 2))


def pieces_of_tokens(split: Split) -> list[list[int]]:
    """Of each token its characters' pieces, one character after the other."""
    places = iter(place for place, one in enumerate(split.text) if not one.isspace())
    found = []
    for token in split.tokens:
        own = [next(places) for _ in token]
        spans = list(enumerate(split.spans.tolist()))
        found.append([piece for at in own for piece, (begin, end) in spans if begin <= at < end])
    return found


@given(splits(), splits(), st.integers(0, 2**32 - 1))
def test_tokens_have_the_mean_similarity_of_their_characters(
    sample: Split, source: Split, seed: int
) -> None:
    pieces = np.random.default_rng(seed).uniform(-1, 1, (len(sample.spans), len(source.spans)))
    rows, columns = pieces_of_tokens(sample), pieces_of_tokens(source)
    expected = np.full((len(rows), len(columns)), np.nan)
    for row, own in enumerate(rows):
        for column, others in enumerate(columns):
            if own and others:
                expected[row, column] = np.mean([pieces[a, b] for a in own for b in others])
    found = token_similarities(
        *(piece_shares(*one) for one in (sample, source)),
        PairMatches(pieces, sample.spans, source.spans),
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(splits(), st.data())
def test_tokens_of_another_text_have_no_pieces(split: Split, data: st.DataObject) -> None:
    tokens = list(split.tokens)
    place = data.draw(st.integers(0, len(tokens)))
    tokens.insert(place, data.draw(st.sampled_from(["&amp;", "<unk>", "x"])))
    found = piece_shares(split.text, tokens, split.spans)
    assert found.shape == (len(tokens), len(split.spans))
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    "symbols, post_process",
    [(["▁der", "▁Hu", "nd", "."], "sentencepiece"), (["der", "Hu@@", "nd@@", "."], "subword_nmt")],
)
def test_markers_of_subwords_are_no_characters(symbols: list[str], post_process: str) -> None:
    dictionary = Dictionary()
    ids = [*(dictionary.add_symbol(symbol) for symbol in symbols), dictionary.eos()]
    decoder = TextDecoder(dictionary, post_process=post_process)
    text = decoder.decode(ids)
    assert text == "der Hund."
    spans = np.array([[0, 3], [4, 8], [8, 9]])
    found = TokenAligner(decoder).shares(np.array(ids), text, spans)
    expected = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [np.nan] * 3]
    np.testing.assert_array_equal(found, expected)
