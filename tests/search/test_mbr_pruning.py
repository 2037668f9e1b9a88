"""Pruning of minimum Bayes risk, round by round, and weights that are rounded to 0."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import Comparison, Evaluations, Hypothesis
from fairseq_mcts.search.mbr import Candidates, expected_utilities, rank_by_pruning, survivors
from fairseq_mcts.search.scorer import Scorer
from tests.search.reference_mbr import reference_pruning
from tests.search.toy_models import hash_of, unit


def made(text: int, logprob: float, weight: float = 1.0) -> Hypothesis:
    return Hypothesis((text, 0), logprob, (logprob, 0.0), None, 0.0, Evaluations(0, 0), weight)


def utility(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Some sentences are better than others, but not by every reference."""
    return unit(hash_of(1, 0, one)) + 2.0 * unit(hash_of(2, 0, one + other))


class Counting:
    """Remembers how often each pair was compared."""

    batched = True

    def __init__(self) -> None:
        self.pairs: Counter[Any] = Counter()

    def __call__(self, comparisons: list[Comparison]) -> Any:
        for one in comparisons:
            self.pairs.update(
                (h.sentence, h.tokens, r.tokens) for h in one.hypotheses for r in one.references
            )
            yield [[utility(h.tokens, r.tokens) for r in one.references] for h in one.hypotheses]


def drawn(seed: int, *, improbable_first: bool = False) -> list[Hypothesis]:
    """Draws of which some are of the same text."""
    rng = random.Random(seed)
    texts = range(100 * seed + 1, 100 * seed + 1 + rng.randint(1, 15))
    logprobs = {text: -10.0 * rng.random() - 1.0 for text in texts}
    found = [made(text, logprobs[text]) for text in rng.choices(texts, k=rng.randint(1, 30))]
    if improbable_first:  # their probabilities are 0, beside that of the last
        return [made(1000 + number, -5000.0 - number) for number in range(9)] + found
    return found


@pytest.mark.parametrize("improbable_first", [False, True])
@pytest.mark.parametrize("by_probability", [False, True])
@pytest.mark.parametrize("confidence", [0.7, 0.99])
def test_the_rounds(confidence: float, by_probability: bool, improbable_first: bool) -> None:
    finished = [drawn(seed, improbable_first=improbable_first) for seed in range(5)]
    metric = Counting()
    batch = [Candidates.of(one, by_probability=by_probability) for one in finished]
    ranked = rank_by_pruning(batch, Scorer(metric), confidence=confidence)
    for found, several in zip(ranked, finished, strict=True):
        expected = reference_pruning(several, utility, confidence, by_probability=by_probability)
        assert [one.tokens for one in found] == [tokens for tokens, _ in expected]
        assert [one.score for one in found] == pytest.approx([worth for _, worth in expected])
    assert max(metric.pairs.values()) == 1, "what is known is not asked for again"
    everything = sum(len({one.tokens for one in several}) ** 2 for several in finished)
    assert metric.pairs.total() < everything


def test_weights_that_are_rounded_to_nothing_count_as_equal() -> None:
    utilities = np.array([[0.1, 0.3], [0.9, 0.7]])
    assert expected_utilities(utilities, np.zeros(2)).tolist() == pytest.approx([0.2, 0.8])
    assert survivors(utilities, np.zeros(2), 0.99, seed=1).tolist() == [False, True]


def test_resamplings_of_such_weights_alone() -> None:
    """Every second draws only the references that weigh nothing: there the first is as good."""
    utilities = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    weights = np.array([0.0, 0.0, 1.0])
    draws = np.random.default_rng(5).multinomial(3, [1 / 3] * 3, size=500)
    share = (draws[:, 2] == 0).mean()
    assert 0.2 < share < 0.4
    assert survivors(utilities, weights, 1.0 - share + 0.01, seed=5).tolist() == [True, True]
    assert survivors(utilities, weights, 1.0 - share - 0.01, seed=5).tolist() == [False, True]


def test_no_score_is_nan() -> None:
    finished = [made(number, -5000.0) for number in range(1, 9)] + [made(9, -1.0)]
    batch = [Candidates.of(finished, by_probability=True)]
    [found] = rank_by_pruning(batch, Scorer(Counting()), confidence=0.99)
    assert all(math.isfinite(one.score) for one in found)
