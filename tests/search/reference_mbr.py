"""Minimum Bayes risk for one sentence, from the list of what was finished: compare all, sort."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Tokens = tuple[int, ...]
Utility = Callable[[Tokens, Tokens], float]


def reference_mbr(
    finished: Sequence[Any], utility: Utility, *, by_probability: bool
) -> list[tuple[Tokens, float]]:
    """The distinct sentences with their expected utilities, best first."""
    distinct, references = _sides(finished, by_probability=by_probability)
    total = sum(weight for _, weight in references)
    expected = {
        one.tokens: sum(weight * utility(one.tokens, other) for other, weight in references) / total
        for one in distinct
    }
    return [
        (one.tokens, expected[one.tokens])
        for one in sorted(distinct, key=lambda one: (-expected[one.tokens], -one.logprob))
    ]


def _sides(
    finished: Sequence[Any], *, by_probability: bool
) -> tuple[list[Any], list[tuple[Tokens, float]]]:
    """The distinct sentences, and the references with their weights."""
    first: dict[Tokens, Any] = {}
    for one in finished:
        first.setdefault(one.tokens, one)
    distinct = list(first.values())
    if by_probability:
        return distinct, [(one.tokens, math.exp(one.logprob)) for one in distinct]
    return distinct, [(one.tokens, one.weight) for one in finished]


def reference_aggregated(
    finished: Sequence[Any], numbers: Callable[[Tokens], list[float]], *, by_probability: bool
) -> dict[Tokens, float]:
    """Scores of toy sentences against the mean of all, by what `numbers` says of a sentence."""
    distinct, references = _sides(finished, by_probability=by_probability)
    total = sum(weight for _, weight in references)
    vectors = [[weight / total * n for n in numbers(tokens)] for tokens, weight in references]
    mean = [sum(column) for column in zip(*vectors, strict=True)]
    return {
        one.tokens: -sum(abs(a - b) for a, b in zip(numbers(one.tokens), mean, strict=True))
        for one in distinct
    }


def weighted_mean(numbers: Sequence[float], weights: Sequence[float]) -> float:
    """If all weights are 0 they are as good as equal."""
    weights = weights if sum(weights) > 0 else [1.0] * len(weights)
    return sum(n * w for n, w in zip(numbers, weights, strict=True)) / sum(weights)


def reference_survivors(utilities: Any, weights: Any, confidence: float, seed: int) -> list[bool]:
    """The rule word by word: draw as many references again, and count who is as good."""
    count = len(weights)
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, size=500)
    weights = weights if sum(weights) > 0 else [1.0] * count

    def mean(row: Any, repeats: Any) -> float:
        of_draw = [repeats[i] * weights[i] for i in range(count)]
        return weighted_mean(row, of_draw if sum(of_draw) > 0 else repeats)

    best = max(range(len(utilities)), key=lambda h: weighted_mean(utilities[h], weights))
    of_best = [mean(utilities[best], one) for one in draws]
    kept = []
    for row in utilities:
        wins = sum(mean(row, one) >= b - 1e-12 for one, b in zip(draws, of_best, strict=True))
        kept.append(wins / 500 > 1 - confidence)
    return kept


def reference_pruning(
    finished: Sequence[Any], utility: Utility, confidence: float, *, by_probability: bool
) -> list[tuple[Tokens, float]]:
    """Those that survive all rounds, best first: 8 references, 16, 32, … as they were drawn."""
    left, references = _sides(finished, by_probability=by_probability)
    used = 8
    while True:
        now = references[:used]
        weights = [weight for _, weight in now]
        table = [[utility(one.tokens, other) for other, _ in now] for one in left]
        kept = reference_survivors(table, weights, confidence, seed=len(now))
        expected = {
            one.tokens: weighted_mean(row, weights) for one, row in zip(left, table, strict=True)
        }
        left = [one for one, stays in zip(left, kept, strict=True) if stays]
        if used >= len(references) or len(left) == 1:
            break
        used *= 2
    best_first = sorted(left, key=lambda one: (-expected[one.tokens], -one.logprob))
    return [(one.tokens, expected[one.tokens]) for one in best_first]
