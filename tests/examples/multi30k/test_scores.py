"""Scores of translations as the study leaves them."""

import pytest

from examples.multi30k.layout import Layout
from examples.multi30k.scores import HeldOutScores
from tests.examples.multi30k.conftest import (
    write_decoding_log,
    write_generated,
)


def test_p_values_tell_a_difference_from_none(decoded: Layout) -> None:
    scores = HeldOutScores(decoded)
    better, same = (scores.score(name, "bleu") for name in ("separate-bleu-mcts", "greedy"))
    assert better is not None
    assert better.p_value is not None
    assert better.p_value < 0.05
    assert same is not None
    assert same.p_value == 1.0
    assert scores.score("nobody", "bleu") is None


def test_a_lost_line_is_an_error(decoded: Layout) -> None:
    path = decoded.decoded("greedy") / "generate-test.txt"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(ValueError, match=r"39 translations for 40 references"):
        HeldOutScores(decoded).score("greedy", "bleu")


def test_what_is_being_decoded_is_not_scored_yet(decoded: Layout) -> None:
    write_generated(decoded.decoded("hybrid-bleu-vgbs"), ["the first one"])
    write_decoding_log(decoded, "hybrid-bleu-vgbs", finished=False)
    scores = HeldOutScores(decoded)
    assert "hybrid-bleu-vgbs" not in scores.names()
    assert scores.score("hybrid-bleu-vgbs", "bleu") is None
