"""Do the samples follow the distribution they are said to follow?

All is seeded: nothing here is flaky. The chi-square limits are those of a probability of 1e-6.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import decode
from fairseq_mcts.search.random_numbers import gumbel, uniform
from tests.search.reference_sr import SrOptions, sampling_distribution
from tests.search.toy_models import ToyEvaluator, ToyModel

MODEL = ToyModel(vocab=8, eos=3, seed=11, policy="flat")
COUNT = 6000


def chi_square(counts: list[int], expected: list[float]) -> float:
    return sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True))


def limit(degrees: int) -> float:
    """The chi-square quantile of 1 - 1e-6 (Wilson and Hilferty's approximation)."""
    z = 4.7534  # of the normal distribution
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + z * math.sqrt(spread)) ** 3


def draw_many(model: ToyModel, max_len: int, **options: Any) -> Counter[tuple[int, ...]]:
    """One sample each for many copies of the same sentence, each with a seed of its own."""
    evaluate = ToyEvaluator(model, model.eos, [0] * COUNT)
    results = decode(
        evaluate,
        COUNT,
        search="sr",
        samples=1,
        seed=list(range(COUNT)),
        eos=model.eos,
        max_len=max_len,
        **options,
    )
    return Counter(hypotheses[0].tokens for hypotheses in results)


FILTERS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.25},
    {"temperature": 3.0},
    {"top_k": 3},
    {"top_p": 0.613},
    {"epsilon": 0.124},
    {"temperature": 0.4, "top_k": 6, "top_p": 0.83, "epsilon": 0.15},
]


@pytest.mark.parametrize("options", FILTERS)
def test_first_tokens_follow_the_filtered_policy(options: dict[str, Any]) -> None:
    sentences = draw_many(MODEL, max_len=1, **options)
    counts: Counter[int] = Counter()
    for tokens, count in sentences.items():
        counts[tokens[0]] += count
    expected = sampling_distribution(
        list(MODEL(0, ())[0]), list(range(MODEL.vocab)), SrOptions(**options)
    )
    assert set(counts) == set(expected), "the support"
    tokens = sorted(expected)
    statistic = chi_square([counts[t] for t in tokens], [COUNT * expected[t] for t in tokens])
    assert statistic < limit(len(tokens) - 1)


def test_the_filters_of_these_tests_do_filter() -> None:
    sizes = [
        len(sampling_distribution(list(MODEL(0, ())[0]), list(range(MODEL.vocab)), SrOptions(**o)))
        for o in FILTERS
    ]
    assert sizes[:4] == [8, 8, 8, 3]
    assert all(1 < size < 8 for size in sizes[4:])


def test_whole_sentences_follow_the_product_of_the_policy() -> None:
    model = ToyModel(vocab=3, eos=0, seed=4, policy="flat")
    sentences = draw_many(model, max_len=2)
    expected: dict[tuple[int, ...], float] = {(0,): math.exp(model(0, ())[0][0])}
    for first in (1, 2):
        here = math.exp(model(0, ())[0][first])
        expected[(first, 0)] = here * math.exp(model(0, (first,))[0][0])
        for second in (1, 2):  # then max_len is reached, and EOS is certain
            expected[(first, second, 0)] = here * math.exp(model(0, (first,))[0][second])
    total = sum(expected.values())
    assert set(sentences) == set(expected)
    statistic = chi_square(
        [sentences[t] for t in expected], [COUNT * p / total for p in expected.values()]
    )
    assert statistic < limit(len(expected) - 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_samples_of_one_sentence_follow_the_policy_too(seed: int) -> None:
    evaluate = ToyEvaluator(MODEL, MODEL.eos, [0])
    every = {"samples": COUNT, "n_best": COUNT, "rank_by": "none"}
    found = decode(evaluate, 1, search="sr", eos=MODEL.eos, max_len=1, seed=seed, **every)[0]
    counts = Counter(hypothesis.tokens[0] for hypothesis in found)
    policy = sampling_distribution(list(MODEL(0, ())[0]), list(range(MODEL.vocab)), SrOptions())
    statistic = chi_square([counts[t] for t in policy], [COUNT * p for p in policy.values()])
    assert statistic < limit(len(policy) - 1)


def test_one_simulation_under_gumbel_noise_is_a_draw_from_the_policy() -> None:
    evaluate = ToyEvaluator(MODEL, MODEL.eos, [0] * COUNT)
    options = {"simulations": 1, "root": "gumbel", "gumbel_scale": 1.0}
    seeds = list(range(COUNT))
    found = decode(evaluate, COUNT, search="mcts", eos=MODEL.eos, max_len=1, seed=seeds, **options)
    counts = Counter(hypotheses[0].tokens[0] for hypotheses in found)
    policy = sampling_distribution(list(MODEL(0, ())[0]), list(range(MODEL.vocab)), SrOptions())
    statistic = chi_square([counts[t] for t in policy], [COUNT * p for p in policy.values()])
    assert statistic < limit(len(policy) - 1)


@pytest.mark.parametrize("varied", ["seed", "sample", "position"])
def test_gumbel_noise_has_its_distribution(varied: str) -> None:
    fixed = {"seed": 7, "sample": 11, "position": 3}
    drawn = [gumbel(**{**fixed, varied: i}) for i in range(20_000)]
    ranks = np.exp(-np.exp(-np.array(drawn)))  # its distribution function: uniform then
    counts, _ = np.histogram(ranks, bins=50, range=(0.0, 1.0))
    assert chi_square(counts.tolist(), [len(drawn) / 50] * 50) < limit(49)


@pytest.mark.parametrize("varied", ["seed", "sample", "position"])
def test_uniform_numbers_are_uniform_and_unrelated(varied: str) -> None:
    fixed = {"seed": 7, "sample": 7, "position": 7}
    numbers = np.array(
        [uniform(**{**fixed, varied: i}) for i in range(20_000)]  # type: ignore[arg-type]
    )
    assert ((numbers >= 0.0) & (numbers < 1.0)).all()
    counts = np.bincount((numbers * 50).astype(int), minlength=50)
    assert chi_square(list(counts), [400.0] * 50) < limit(49)
    pairs = np.bincount(  # neighbours, as points in the unit square
        (numbers[:-1:2] * 8).astype(int) * 8 + (numbers[1::2] * 8).astype(int), minlength=64
    )
    assert chi_square(list(pairs), [10_000 / 64] * 64) < limit(63)


def test_uniform_numbers_differ_wherever_an_argument_differs() -> None:
    numbers = {
        uniform(seed, sample, position)
        for seed in (0, 1, 2, 2**31)
        for sample in range(20)
        for position in range(20)
    }
    assert len(numbers) == 4 * 20 * 20
