"""The texts of a picture."""

import pytest

from fairseq_mcts.pictures.captions import (
    explanation,
    heading,
    joined,
    rest_text,
    token_label,
    value_texts,
    wrapped,
)
from fairseq_mcts.pictures.pruning import Hidden, Pruning, prune
from tests.pictures.trees import by_hand


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("▁Ein", "▁Ma", "nn", "."), "Ein Mann."),
        (("Ein", "Ma@@", "nn", "."), "Ein Mann ."),
        (("Ein", "Mann"), "Ein Mann"),
        ((), ""),
    ],
)
def test_joined(pieces: tuple[str, ...], text: str) -> None:
    assert joined(pieces) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.5, 0.5], ["0.50", "0.50"]),
        ([0.0, 25.0], ["0.00", "25.00"]),
        ([0.1, 0.7], ["0.100", "0.700"]),
        ([0.66, 0.69], ["0.6600", "0.6900"]),
        ([0.5, 0.5000001], ["0.5000", "0.5000"]),
        ([-0.25], ["-0.25"]),
    ],
)
def test_values_have_digits_that_tell_them_apart(values: list[float], texts: list[str]) -> None:
    assert value_texts(values) == texts


def test_heading() -> None:
    assert heading(by_hand()) == [
        *("Sentence 7, output token 2", "Source: xy", "Decoded so far: z", "Chosen by value: ␣a"),
    ]
    assert token_label("ab") == "ab"


def test_explanation_states_the_rule_and_how_much_is_hidden() -> None:
    told = explanation(prune(by_hand(), Pruning(max_nodes=4, depth=2)))[-1]
    assert told.startswith(
        "Shown: 5 of 10 nodes: with at least 3 visits or on the chosen path, and at most 2 tokens "
        "below the root."
    )
    assert explanation(prune(by_hand(), Pruning()))[-1] == "All 10 nodes are shown."
    assert rest_text(Hidden(3, 7)) == "+3 (7 visits)"
    assert rest_text(Hidden(1, 1)) == "+1 (1 visit)"


def test_wrapped() -> None:
    lines = wrapped(["one two three", "four", "incomprehensible it is"], 7.0, len)
    assert lines == ["one two", "three", "four", "incomprehensible", "it is"]
