"""Samples without replacement: against the slow reference, and against exact enumeration."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairseq_mcts.search import decode
from fairseq_mcts.search.draw_distinct import draw_distinct
from fairseq_mcts.search.random_numbers import gumbel, uniform
from fairseq_mcts.search.stochastic_beam_kernels import gumbel_below
from fairseq_mcts.search.stochastic_beam_search import inclusion_weight
from tests.search.compare import by_sentence_id, rules_of, run
from tests.search.reference_sr import SrOptions, sampling_distribution
from tests.search.reference_stochastic_beam import reference_stochastic_beam
from tests.search.test_sampling import chi_square, limit
from tests.search.toy_models import ToyEvaluator, ToyMetric, ToyModel, ToyProblem, toy_problems

SBS = {"search": "sr", "without_replacement": True}
COUNT = 6000


@pytest.mark.slow
@pytest.mark.parametrize("rank_by", ["value", "metric", "none"])
@given(data=st.data())
@settings(
    max_examples=700,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_against_the_reference(rank_by: str, data: st.DataObject) -> None:
    problem = data.draw(toy_problems(), label="problem")
    metric = ToyMetric(seed=data.draw(st.integers(0, 99)), batched=True)
    options = SrOptions(
        samples=data.draw(st.integers(1, 12), label="samples"),
        temperature=data.draw(st.sampled_from((0.25, 0.75, 1.0, 3.0)), label="temperature"),
        top_k=data.draw(st.sampled_from((0, 0, 2, 3)), label="top_k"),
        top_p=data.draw(st.sampled_from((1.0, 1.0, 0.9137)), label="top_p"),
        epsilon=data.draw(st.sampled_from((0.0, 0.0, 0.0213)), label="epsilon"),
        rank_by=rank_by,
    )
    seed = data.draw(st.integers(0, 2**31 - 1), label="seed")
    more = {"metric": by_sentence_id(problem, metric)} if rank_by == "metric" else {}
    results, evaluate = run(
        problem, **SBS, **vars(options), **more, seed=seed, n_best=options.samples
    )
    for index, sentence in enumerate(problem.sentence_ids):
        reference = reference_stochastic_beam(
            problem.model,
            sentence,
            rules_of(problem, index),
            options,
            seed=seed,
            uniform=uniform,
            metric=metric.score,
        )
        found = results[index]
        assert [one.tokens for one in found] == [one.tokens for one in reference.samples]
        for one, expected in zip(found, reference.samples, strict=True):
            assert one.positional_logprobs == pytest.approx(expected.positional_logprobs, abs=1e-12)
            assert one.weight == pytest.approx(expected.weight, rel=1e-6, abs=1e-300)
            assert one.value == expected.score
            assert one.evaluations.charged == one.evaluations.made == len(evaluate.asked[index])
        assert sorted(evaluate.asked[index]) == sorted(reference.asked)
        assert len({one.tokens for one in found}) == len(found)


# ---- the distribution ----

MODEL = ToyModel(vocab=3, eos=0, seed=4, policy="flat")


def all_sentences(model: ToyModel, max_len: int, options: SrOptions) -> dict[Any, float]:
    """Every sentence with its probability by the distribution that is sampled from."""
    found: dict[Any, float] = {}
    open_prefixes: list[tuple[Any, float]] = [((), 1.0)]
    while open_prefixes:
        prefix, share = open_prefixes.pop()
        allowed = [model.eos] if len(prefix) == max_len else list(range(model.vocab))
        policy = sampling_distribution(list(model(0, prefix)[0]), allowed, options)
        for token, part in policy.items():
            if token == model.eos:
                found[(*prefix, token)] = share * part
            else:
                open_prefixes.append(((*prefix, token), share * part))
    return found


def draw_many(samples: int, options: SrOptions, max_len: int = 2) -> list[list[Any]]:
    """Many copies of the same sentence, each with a seed of its own."""
    given = {**vars(options), "samples": samples, "rank_by": "none"}
    return decode(
        ToyEvaluator(MODEL, MODEL.eos, [0] * COUNT),
        COUNT,
        **SBS,
        **given,
        seed=list(range(COUNT)),
        eos=MODEL.eos,
        max_len=max_len,
        n_best=samples,
    )


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [SrOptions(), SrOptions(temperature=0.4), SrOptions(temperature=2.0), SrOptions(top_k=2)],
)
def test_ordered_samples_have_the_probabilities_of_an_urn(samples: int, options: SrOptions) -> None:
    """The i-th is drawn from what the first ones have left."""
    shares = all_sentences(MODEL, 2, options)
    assert sum(shares.values()) == pytest.approx(1.0)
    expected = {}
    for order in permutations(shares, samples):
        probability, left = 1.0, 1.0
        for tokens in order:
            probability *= shares[tokens] / left
            left -= shares[tokens]
        expected[order] = probability
    found = Counter(tuple(one.tokens for one in several) for several in draw_many(samples, options))
    assert set(found) <= set(expected)
    # cells with few expected counts go into one
    large = [order for order in expected if COUNT * expected[order] >= 5]
    counts = [found[order] for order in large]
    means = [COUNT * expected[order] for order in large]
    if COUNT - sum(means) > 1:
        counts.append(COUNT - sum(counts))
        means.append(COUNT - sum(means))
    assert chi_square(counts, means) < limit(len(counts) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [2, 4])
def test_sums_of_inclusion_weights_are_unbiased(samples: int) -> None:
    shares = all_sentences(MODEL, 2, SrOptions())
    drawn = draw_many(samples, SrOptions())
    for tokens, share in shares.items():
        estimates = np.array(
            [sum(one.weight for one in several if one.tokens == tokens) for several in drawn]
        )
        error = estimates.std() / math.sqrt(COUNT)
        assert abs(estimates.mean() - share) < 5 * error
    # any other mean, here that of the length
    lengths = [sum(one.weight * len(one.tokens) for one in several) for several in drawn]
    expected = sum(share * len(tokens) for tokens, share in shares.items())
    assert abs(np.mean(lengths) - expected) < 5 * np.std(lengths) / math.sqrt(COUNT)


def test_all_sentences_are_found_if_so_many_are_wanted() -> None:
    shares = all_sentences(MODEL, 2, SrOptions())
    [found] = decode(
        ToyEvaluator(MODEL, MODEL.eos, [0]),
        1,
        **SBS,
        samples=20,
        rank_by="none",
        eos=MODEL.eos,
        max_len=2,
        n_best=20,
    )
    assert {one.tokens: one.weight for one in found} == pytest.approx(shares)


# ---- its parts ----


def test_gumbel_variables_below_a_bound() -> None:
    """Those of all draws that happen to be below it have the same distribution."""
    bound, location = 0.7, 0.3
    free = [location + gumbel(1, sample, 0) for sample in range(40_000)]
    below = sorted(one for one in free if one <= bound)
    direct = sorted(gumbel_below(location, bound, uniform(2, i, 0)) for i in range(len(below)))
    assert direct[-1] <= bound
    # Kolmogorov and Smirnov's distance of two samples
    places = np.searchsorted(below, direct) / len(below)
    distance = np.abs(places - np.arange(len(direct)) / len(direct)).max()
    assert distance < 2.0 * math.sqrt(2 / len(below))
    assert gumbel_below(-800.0, -5.0, 0.5) == pytest.approx(-800 - math.log(math.log(2)))
    assert gumbel_below(0.0, -900.0, 0.5) == pytest.approx(-900.0)


def test_weights_at_the_ends() -> None:
    assert inclusion_weight(-2.0, -math.inf) == pytest.approx(math.exp(-2))
    assert inclusion_weight(-2.0, -100.0) == pytest.approx(math.exp(-2))
    assert inclusion_weight(-100.0, -2.0) == pytest.approx(math.exp(-2))
    near = inclusion_weight(-32.0 - 1e-9, -2.0), inclusion_weight(-32.0 + 1e-9, -2.0)
    assert near[0] == pytest.approx(near[1])
    assert inclusion_weight(-2000.0, -1000.0) == 0.0


def test_rows_give_each_token_once_and_then_none() -> None:
    row = np.log(np.array([[0.5, 0.0, 0.25, 0.125, 0.125]]) + 1e-300)
    row[0, 1] = -np.inf
    uniforms = np.array([0.0, 0.0, 0.999, 0.5, 0.5, 0.5])
    tokens, shares, left = draw_distinct(row, np.zeros(6, np.int32), uniforms, 1.0, 0, 1.0, 0.0)
    assert tokens.tolist() == [0, 2, 4, 3, -1, -1]
    assert shares == pytest.approx([0.5, 0.25, 0.125, 0.125, 0, 0])
    assert left == pytest.approx([1, 0.5, 0.25, 0.125, 0, 0])


def test_little_probability_is_not_lost_beside_much() -> None:
    """The second draw is fair among tokens of 1e-30."""
    row = np.full((1, 400), math.log(1e-30))
    row[0, 7] = 0.0
    places = np.zeros(2, np.int32)
    second = Counter(
        draw_distinct(row, places, np.array([0.5, (i + 0.5) / 399]), 1.0, 0, 1.0, 0.0)[0][1]
        for i in range(399)
    )
    assert len(second) == 399


@pytest.mark.parametrize("rank_by", ["none", "value", "metric"])
def test_batches_do_not_matter(rank_by: str) -> None:
    model = ToyModel(vocab=9, eos=3, seed=5, policy="peaked")
    problem = ToyProblem(model, tuple(range(64)), max_len=5)
    seeds = list(range(64))

    def decoded(size: int) -> list[Any]:
        results = []
        for start in range(0, 64, size):
            part = problem.of(range(64)[start : start + size])
            metric = by_sentence_id(part, ToyMetric(seed=3, batched=True))
            more = {"metric": metric} if rank_by == "metric" else {}
            options = {**SBS, "samples": 6, "rank_by": rank_by, "n_best": 6, **more}
            results += run(part, seed=seeds[start : start + size], **options)[0]
        return results

    together = decoded(64)
    assert decoded(1) == decoded(7) == together
    samples = [1, 5, 3]
    own = run(problem.of([0, 1, 2]), **SBS, samples=samples, rank_by="none", seed=9, n_best=9)[0]
    assert [len(several) for several in own] == samples


def test_mbr_weighs_references_by_their_inclusion() -> None:
    problem = ToyProblem(MODEL, (0, 1), max_len=4)

    def likeness(sentence: int, one: Any, other: Any) -> float:
        return 1.0 / (1 + abs(len(one) - len(other)))

    options: dict[str, Any] = {"samples": 5, "without_replacement": True, "epsilon": 0.0}
    found = run(problem, search="mbr", metric=likeness, n_best=5, **options)[0]
    drawn = run(problem, search="sr", rank_by="none", n_best=5, **options)[0]
    for ranked, samples in zip(found, drawn, strict=True):
        total = sum(one.weight for one in samples)
        for one in ranked:
            mean = sum(other.weight * likeness(0, one.tokens, other.tokens) for other in samples)
            assert one.score == pytest.approx(mean / total)
