"""Matches of pieces become those of tokens, or none: never those of another token."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from fairseq.data import Dictionary
from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.data.matches import UNKNOWN, codes_of
from fairseq_mcts.metrics.base import PieceMatches
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.relabelling.alignment import TokenAligner, matches_of_tokens

WORDS = st.lists(st.text("abäß漢😀.-", min_size=1, max_size=8), max_size=6)
SPACES = st.sampled_from([" ", "  ", "\u3000", "\t"])


class Split(NamedTuple):
    """A text, cut in two ways."""

    text: str
    tokens: list[str]
    pieces: PieceMatches


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
    similarities = [draw(st.floats(-1, 1)) for _ in spans]
    pieces = PieceMatches(np.array(similarities), np.array(spans, np.int64).reshape(-1, 2))
    return Split(text, tokens, pieces)


def character_matches(split: Split) -> list[float]:
    """One character after the other, spaces left out."""
    found = []
    for place, character in enumerate(split.text):
        if not character.isspace():
            of_piece = [
                float(similarity)
                for similarity, (begin, end) in zip(*split.pieces, strict=True)
                if begin <= place < end
            ]
            found.append(of_piece[0] if of_piece else np.nan)
    return found


@given(splits())
def test_a_token_has_the_mean_match_of_its_characters(split: Split) -> None:
    characters = iter(character_matches(split))
    expected = []
    for token in split.tokens:
        known = [one for one in [next(characters) for _ in token] if not np.isnan(one)]
        expected.append(np.mean(known) if known else np.nan)
    found = matches_of_tokens(split.text, split.tokens, split.pieces)
    np.testing.assert_allclose(found, np.array(expected, np.float64), atol=1e-12)


@given(splits(), st.data())
def test_tokens_of_another_text_have_no_matches(split: Split, data: st.DataObject) -> None:
    tokens = list(split.tokens)
    place = data.draw(st.integers(0, len(tokens)))
    tokens.insert(place, data.draw(st.sampled_from(["&amp;", "<unk>", "x"])))
    found = matches_of_tokens(split.text, tokens, split.pieces)
    assert found.shape == (len(tokens),)
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
    pieces = PieceMatches(np.array([0.5, 0.25, -0.25]), np.array([[0, 3], [4, 8], [8, 9]]))
    codes = TokenAligner(decoder).codes(np.array(ids), text, pieces)
    expected = np.array([0.5, 0.25, 0.25, -0.25, np.nan])
    assert codes.tolist() == codes_of(expected).tolist()
    assert codes[-1] == UNKNOWN
