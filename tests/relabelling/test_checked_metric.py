"""Scores that are not one for each pair would stand on the wrong rows."""

from __future__ import annotations

import pytest

from fairseq_mcts.metrics.base import MetricConfig
from fairseq_mcts.metrics.checks import BadScoreError
from fairseq_mcts.relabelling.checked_metric import CheckedMetric
from tests.generators.vowels import Vowels, VowelsConfig


class Miscounting(Vowels):
    """One score too few and then one too many: right in sum."""

    def __init__(self, config: MetricConfig) -> None:
        super().__init__(config)
        self._more = [-1, 1]

    def score(self, hypotheses: list[str], others: list[str]) -> list[float]:  # type: ignore[override]
        return [0.5] * (len(hypotheses) + self._more.pop(0))


@pytest.mark.parametrize("likely", [False, True])
def test_another_number_of_scores_is_refused_at_every_call(likely: bool) -> None:
    metric = CheckedMetric(Miscounting(VowelsConfig()))
    for count in (2, 4):
        with pytest.raises(ValueError, match=f"metric vowels: {count} scores for 3 hypotheses"):
            if likely:
                metric.score_likely(["a"] * 3, ["a"] * 3, [0.5] * 3)
            else:
                metric.score(["a"] * 3, ["a"] * 3)


def test_scores_outside_the_range_are_refused_with_their_rows() -> None:
    metric = CheckedMetric(Vowels(VowelsConfig(scale=9.0)))
    with pytest.raises(BadScoreError, match=r"the score 9\.0 is no number in") as bad:
        metric.score(["x", "a"], ["a", "a"])
    assert bad.value.scores == {1: 9.0}
