"""Sentences that a search has changed."""

from examples.demo.changes import Change, changes, nearest_to_right, shown
from examples.demo.results import HeldOut
from fairseq_mcts.metrics import build_metric

REFERENCES = ["Ein Hund bellt laut.", "Sie liest ein Buch.", "Er geht nach Hause.", "Es regnet."]
GAINED = [(0.5, 0.7), (0.1, 0.9), (0.3, 0.9)]  # gain and score


def test_only_other_translations_count() -> None:
    before = ["Ein Hund ist laut.", "Sie liest ein Buch.", "Er geht nach.", "Es schneit sehr."]
    after = ["Ein Hund bellt laut.", "Sie kauft kein Haus.", "Er geht nach.", "Es regnet sehr."]
    held_out = HeldOut(["a", "b", "c", "d"], REFERENCES)
    found = changes(before, after, held_out, [build_metric("chrf"), build_metric("bleu")])
    assert [change.number for change in found] == [0, 1, 3]
    assert [(change.is_better, change.is_worse) for change in found] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert found[0].scores == (1.0, 1.0)


def test_what_is_right_now_comes_first_and_of_equals_what_gained_most() -> None:
    found = [Change(number, (gain,), (score,)) for number, (gain, score) in enumerate(GAINED)]
    assert [change.number for change in nearest_to_right(found)] == [2, 1, 0]


def test_metrics_that_disagree_call_a_change_neither_better_nor_worse() -> None:
    change = Change(0, (0.2, -0.1), (0.7, 0.7))
    assert not change.is_better
    assert not change.is_worse


def test_a_change_is_shown_with_a_line_for_each_text() -> None:
    text = shown(Change(1, (0.5,), (0.9,)), [("source", ["a", "b"]), ("reference", ["1", "2"])])
    assert text.splitlines() == ["sentence 1", "source     b", "reference  2"]
