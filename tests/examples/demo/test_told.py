"""What the demo tells: the help of its options, and which sentences changed."""

import argparse

import pytest

from examples.ablation.__main__ import make_parser as make_ablation_parser
from examples.demo.__main__ import make_parser, show_changes
from examples.demo.decoders import BEAM, V_MCTS
from examples.demo.results import HeldOut
from fairseq_mcts.metrics import build_metric

HELD_OUT = HeldOut(["a", "b"], ["Ein Hund bellt laut.", "Sie liest ein Buch."])
WRONG = ["Ein Hund ist laut.", "Sie kauft kein Haus."]


@pytest.mark.parametrize("parser", [make_parser(), make_ablation_parser()])
def test_every_option_has_a_help_with_its_default(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction):
            assert "(default: " in str(action.help), action.option_strings
            assert not str(action.help).startswith("(")


@pytest.mark.parametrize(
    ("before", "after", "shown", "left_out"),
    [
        (WRONG, HELD_OUT.references, "The best of the better ones:\nsentence", "worst"),
        (HELD_OUT.references, WRONG, "The worst loss:\nsentence", "best"),
        (WRONG, WRONG, "0 are better and 0 worse.", "sentence "),
    ],
    ids=["better", "worse", "same"],
)
def test_changes_of_a_kind_that_there_are_none_of_have_no_title(
    before: list[str],
    after: list[str],
    shown: str,
    left_out: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = [build_metric("chrf"), build_metric("bleu")]
    show_changes(HELD_OUT, {BEAM.name: before, V_MCTS.name: after}, metrics)
    told = capsys.readouterr().out
    assert shown in told
    assert left_out not in told
