"""Minimum Bayes risk for one sentence, from the list of what was finished: compare all, sort."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Tokens = tuple[int, ...]
Utility = Callable[[Tokens, Tokens], float]


def reference_mbr(
    finished: Sequence[Any], utility: Utility, *, by_probability: bool
) -> list[tuple[Tokens, float]]:
    """The distinct sentences with their expected utilities, best first."""
    distinct = list({one.tokens: one for one in reversed(finished)}.values())[::-1]
    references = [(one.tokens, math.exp(one.logprob)) for one in distinct]
    if not by_probability:
        references = [(one.tokens, 1.0) for one in finished]
    total = sum(weight for _, weight in references)
    expected = {
        one.tokens: sum(weight * utility(one.tokens, other) for other, weight in references) / total
        for one in distinct
    }
    return [
        (one.tokens, expected[one.tokens])
        for one in sorted(distinct, key=lambda one: (-expected[one.tokens], -one.logprob))
    ]


def reference_aggregated(
    finished: Sequence[Any], numbers: Callable[[Tokens], list[float]]
) -> dict[Tokens, float]:
    """Scores of toy sentences against the mean of all, by what `numbers` says of a sentence."""
    vectors = [numbers(one.tokens) for one in finished]
    mean = [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]
    return {
        one.tokens: -sum(abs(a - b) for a, b in zip(numbers(one.tokens), mean, strict=True))
        for one in finished
    }
