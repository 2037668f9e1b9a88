"""The range of buckets; scores far beyond those of a checkpoint are refused."""

import json
import math
from typing import Any

import pytest

from fairseq_mcts.data.scored_folder import ScoredDataError
from fairseq_mcts.data.value_range import (
    ScoreRange,
    known_range,
    refuse_narrow_range,
    set_value_range,
)
from fairseq_mcts.models.value_head import ValueHead


@pytest.fixture
def head() -> ValueHead:
    return ValueHead(4, low=0.1, high=0.7, buckets=3)


@pytest.mark.parametrize(
    "known", [None, ScoreRange(0.2, 0.6), ScoreRange(0.1, 0.7), ScoreRange(0.1 - 1e-7, 0.7 + 1e-7)]
)
def test_scores_within_the_range_are_accepted(
    head: ValueHead, known: ScoreRange | None, caplog: pytest.LogCaptureFixture
) -> None:
    refuse_narrow_range(head, known)
    assert not caplog.records


def test_scores_a_little_beyond_the_range_are_told(
    head: ValueHead, caplog: pytest.LogCaptureFixture
) -> None:
    refuse_narrow_range(head, ScoreRange(0.09, 0.755))
    assert "scores go from 0.09 to 0.755: what lies beyond counts as" in caplog.text


@pytest.mark.parametrize("known", [ScoreRange(0.03, 0.7), ScoreRange(0.1, 0.77)])
def test_scores_far_beyond_the_range_are_refused(head: ValueHead, known: ScoreRange) -> None:
    with pytest.raises(ScoredDataError, match=f"scores go from {known.least} to {known.greatest}"):
        refuse_narrow_range(head, known)


@pytest.mark.parametrize(
    "given, known, expected",
    [
        ((None, None), ScoreRange(0.2, 0.6, 0.0, 1.0), (0.0, 1.0)),
        ((0.1, None), ScoreRange(0.2, 0.6, 0.0, 1.0), (0.1, 1.0)),
        ((None, None), ScoreRange(0.2, 0.6), (0.2, 0.6)),
        ((None, None), ScoreRange(-3.0, 0.6, -math.inf, 1.0), (-3.0, 1.0)),
        ((None, None), ScoreRange(0.5, 0.5), (0.49, 0.51)),
    ],
)
def test_buckets_are_spread_over_what_scores_can_be(
    head: ValueHead, given: Any, known: ScoreRange, expected: tuple[float, float]
) -> None:
    set_value_range(head, *given, known)
    assert (head.low, head.high) == pytest.approx(expected)


def test_the_range_is_that_of_all_splits(scored: Any) -> None:
    scores = scored.scores
    observed = float(scores.min()), float(scores.max())
    assert known_range([scored.names, *scored.names.parts()]) == (*observed, 0.0, 1.0)
    record = {"metric": {"range": [None, 2.0]}, "methods": ["greedy"]}
    scored.names.record.write_text(json.dumps(record))
    assert known_range([scored.names]) == (*observed, -math.inf, 2.0)
    scored.names.score.unlink()
    assert known_range([scored.names]) is None
