"""Minimum Bayes risk against the obvious computation, on samples, beams and trees of toy models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairseq_mcts.search import Comparison, OptionError, decode, make_decoder
from fairseq_mcts.search.mbr import survivors
from tests.search.compare import run
from tests.search.reference_mbr import (
    reference_aggregated,
    reference_mbr,
    reference_survivors,
)
from tests.search.toy_models import ToyModel, ToyProblem, hash_of, toy_problems, unit

many_models = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SOURCES: dict[str, dict[str, Any]] = {
    "sampling": {"search": "sr", "rank_by": "none"},
    "beam": {"search": "beam"},
    "mcts": {"search": "mcts"},
}
COUNTS = {"sampling": "samples", "beam": "beam", "mcts": "simulations"}


class ToyUtility:
    """A number for each pair of sentences; not symmetric, and not what its sides are alone."""

    def __init__(self, problem: ToyProblem, batched: bool) -> None:
        self.problem, self.batched = problem, batched
        self.calls: list[list[Comparison]] = []

    def pair(self, sentence: int, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        name = self.problem.sentence_ids[sentence]
        return unit(hash_of(7, name, (*one, 99, *other))) + 2.0 * (one == other)

    def __call__(self, *given: Any) -> Any:
        if not self.batched:
            return self.pair(*given)
        [comparisons] = given
        self.calls.append(comparisons)
        return [
            [[self.pair(*h[:2], r.tokens) for r in one.references] for h in one.hypotheses]
            for one in comparisons
        ]

    def numbers(self, tokens: tuple[int, ...]) -> list[float]:
        """What is aggregated of a sentence."""
        return [float(len(tokens)), float(sum(tokens))]

    def aggregated(self, comparisons: list[Comparison]) -> Any:
        for one in comparisons:
            mean = one.weights @ np.array([self.numbers(r.tokens) for r in one.references])
            assert one.weights.sum() == pytest.approx(1.0)
            yield [-np.abs(np.array(self.numbers(h.tokens)) - mean).sum() for h in one.hypotheses]


def finished_by(problem: ToyProblem, source: str, count: int, **more: Any) -> list[list[Any]]:
    """What the search that finds the candidates finishes, repetitions and all."""
    n_best = count if source != "mcts" else 10_000
    options = {**SOURCES[source], COUNTS[source]: count, "n_best": n_best, **more}
    return run(problem, **options)[0]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["sampling", "beam", "mcts"])
@pytest.mark.parametrize("weights", ["count", "probability"])
@given(data=st.data())
@many_models
def test_mbr(source: str, weights: str, data: st.DataObject) -> None:
    problem = data.draw(toy_problems(), label="problem")
    count = data.draw(st.integers(1, 20), label="samples")
    sampling: dict[str, Any] = {}
    if source == "sampling":
        sampling = {
            "temperature": data.draw(st.sampled_from((0.5, 1.0)), label="temperature"),
            "top_k": data.draw(st.sampled_from((0, 2)), label="top_k"),
            "top_p": data.draw(st.sampled_from((1.0, 0.613)), label="top_p"),
            "epsilon": data.draw(st.sampled_from((0.0, 0.0213)), label="epsilon"),
            "seed": data.draw(st.integers(0, 2**31 - 1), label="seed"),
        }
    utility = ToyUtility(problem, data.draw(st.booleans(), label="batched"))
    n_best = data.draw(st.integers(1, count), label="n_best")
    results, evaluate = run(
        problem,
        **{"search": "mbr", "candidates": source, "samples": count, "weights": weights},
        **{"metric": utility, "n_best": n_best, **sampling},
    )
    finished = finished_by(problem, source, count, **sampling)
    for index, found in enumerate(results):

        def between(one: Any, other: Any, index: int = index) -> float:
            return utility.pair(index, one, other)

        expected = reference_mbr(finished[index], between, by_probability=weights == "probability")
        of_source = {one.tokens: one.value for one in finished[index]}
        assert [one.tokens for one in found] == [tokens for tokens, _ in expected[:n_best]]
        for one, (_, worth) in zip(found, expected, strict=False):
            assert one.score == one.utility == pytest.approx(worth, abs=1e-12)
            assert one.value == of_source[one.tokens]
            assert one.evaluations == finished[index][0].evaluations
            assert one.evaluations.made == len(evaluate.asked[index])
    assert len(utility.calls) == utility.batched, "all sentences together"


@pytest.mark.parametrize("weights", ["count", "probability"])
@given(problem=toy_problems(), count=st.integers(1, 20))
@many_models
def test_aggregated_references(weights: str, problem: ToyProblem, count: int) -> None:
    utility = ToyUtility(problem, batched=True)
    options = {"samples": count, "references": "aggregated", "weights": weights}
    results, _ = run(problem, search="mbr", epsilon=0.0, n_best=count, metric=utility, **options)
    finished = finished_by(problem, "sampling", count)
    for found, several in zip(results, finished, strict=True):
        by_probability = weights == "probability"
        expected = reference_aggregated(several, utility.numbers, by_probability=by_probability)
        assert {one.tokens: one.score for one in found} == pytest.approx(expected, abs=1e-9)
        assert found[0].score == max(one.score for one in found)


@given(
    seed=st.integers(0, 1000),
    hypotheses=st.integers(1, 4),
    references=st.integers(1, 6),
    confidence=st.sampled_from((0.5, 0.9, 0.99)),
)
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_who_survives_a_round(
    seed: int, hypotheses: int, references: int, confidence: float
) -> None:
    rng = np.random.default_rng(seed)
    utilities = rng.random((hypotheses, references))
    weights = rng.integers(1, 4, references).astype(float)
    found = survivors(utilities, weights, confidence, seed)
    assert found.tolist() == reference_survivors(utilities, weights, confidence, seed)
    assert found[int(np.argmax(utilities @ weights))], "the best always stays"


MODEL = ToyModel(vocab=8, eos=3, seed=5, policy="flat")


def quality(tokens: tuple[int, ...]) -> float:
    return unit(hash_of(3, 0, tokens))


class EasyUtility:
    """Some sentences are better than others by any reference, but for a little noise."""

    batched = True

    def __init__(self) -> None:
        self.pairs = 0

    def __call__(self, comparisons: list[Comparison]) -> Any:
        for one in comparisons:
            self.pairs += len(one.hypotheses) * len(one.references)
            yield [
                [
                    quality(h.tokens) + 0.2 * unit(hash_of(1, 0, h.tokens + r.tokens))
                    for r in one.references
                ]
                for h in one.hypotheses
            ]


def test_pruning_finds_the_same_with_fewer_comparisons() -> None:
    problem = ToyProblem(MODEL, tuple(range(40)), max_len=6)
    whole, pruned = EasyUtility(), EasyUtility()
    options: dict[str, Any] = {"search": "mbr", "samples": 100, "epsilon": 0.0}
    expected, _ = run(problem, metric=whole, **options)
    found, _ = run(problem, metric=pruned, prune=0.99, n_best=100, **options)
    same = [a[0].tokens == b[0].tokens for a, b in zip(found, expected, strict=True)]
    assert sum(same) >= 38
    assert pruned.pairs < 0.4 * whole.pairs
    assert all(len(several) < 30 for several in found), "only those that are left"


def test_pruning_goes_through_all_references_if_it_must() -> None:
    """All hypotheses are equal: none can go, and the result is that of all references."""
    problem = ToyProblem(MODEL, (0, 1, 2), max_len=5)

    def same(sentence: int, one: Any, other: Any) -> float:
        return 0.25 + 0.5 * (len(other) % 2)

    options: dict[str, Any] = {"search": "mbr", "samples": 30, "metric": same, "n_best": 30}
    expected, _ = run(problem, **options)
    found, _ = run(problem, prune=0.9, **options)
    for several, others in zip(found, expected, strict=True):
        assert [one.tokens for one in several] == [one.tokens for one in others]
        scores = [one.score for one in others]
        assert [one.score for one in several] == pytest.approx(scores, abs=1e-12)


def test_pruning_with_hardly_any_confidence_leaves_the_best() -> None:
    """1 - 1e-30 is 1, and no share of resamplings is more than that."""
    problem = ToyProblem(MODEL, (0, 1), max_len=4)
    options: dict[str, Any] = {"search": "mbr", "samples": 9, "n_best": 9}
    found, _ = run(problem, metric=EasyUtility(), prune=1e-30, **options)
    assert [len(hypotheses) for hypotheses in found] == [1, 1]


@pytest.mark.parametrize("more", [{}, {"prune": 0.9}, {"references": "aggregated"}])
@pytest.mark.parametrize("source", ["sampling", "beam", "mcts"])
def test_batches_do_not_matter(source: str, more: dict[str, Any]) -> None:
    problem = ToyProblem(MODEL, tuple(range(64)), max_len=4)
    options = {"search": "mbr", "candidates": source, "samples": 8, "n_best": 3, **more}
    seeds = list(range(64))

    def decoded(size: int) -> list[Any]:
        results = []
        for start in range(0, 64, size):
            part = problem.of(range(64)[start : start + size])
            utility = ToyUtility(part, batched=True)
            results += run(part, metric=utility, seed=seeds[start : start + size], **options)[0]
        return results

    together = decoded(64)
    assert decoded(1) == decoded(7) == together


def test_refusals() -> None:
    def metric(sentence: int, one: Any, other: Any) -> float:
        return 0.0

    problem = ToyProblem(MODEL)
    with pytest.raises(OptionError, match="search='mbr': needs a metric"):
        run(problem, search="mbr")
    message = "references='aggregated': needs a metric that can aggregate references"
    with pytest.raises(OptionError, match=message):
        run(problem, search="mbr", metric=metric, references="aggregated")
    for prune in (0.0, 1.0, -0.5):
        with pytest.raises(OptionError, match="prune: must lie between 0 and 1"):
            make_decoder("mbr", {"prune": prune})
    decoder = make_decoder("mbr", {"candidates": "mcts"})
    for name, value in (("epsilon", 0.1), ("top_k", 3), ("top_p", 0.5)):
        message = f"{name}={value}: has no effect with candidates='mcts'"
        with pytest.raises(OptionError, match=message):
            decoder.refuse_unread({"candidates": "mcts", name: value})
    assert decoder.needs_value and not make_decoder("mbr").needs_value
    assert not make_decoder("mbr", {"candidates": "beam"}).needs_value
    with pytest.raises(OptionError, match="candidates='mbr': can't be its own source"):
        make_decoder("mbr", {"candidates": "mbr"})
    with pytest.raises(OptionError, match="candidates: 'walk' is none of 'sampling', 'beam', "):
        make_decoder("mbr", {"candidates": "walk"})

    def odd(comparisons: list[Comparison]) -> Any:
        return [np.zeros((1, 1)) for _ in comparisons]

    odd.batched = True  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="metric returned scores of shapes"):
        run(problem, search="mbr", metric=odd, samples=5, epsilon=0.0)
    with pytest.raises(ValueError, match="no number"):
        run(problem, search="mbr", metric=lambda *_: float("nan"), samples=5)


def test_when_weights_are_inclusion_weights() -> None:
    def reports(**options: Any) -> bool:
        return make_decoder("mbr", options).reports_weights

    assert not reports()
    assert reports(without_replacement=True)
    assert not reports(without_replacement=True, weights="probability")


def test_the_worked_example() -> None:
    """Words in common decide: the likeliest sentence has nothing in common with the others."""
    row = {(): [0.0, 0.4, 0.3, 0.3, 0.0], (2,): [0, 0, 0, 0, 1.0], (3,): [0, 0, 0, 0, 1.0]}

    def evaluate(sentences: list[int], prefixes: list[tuple[int, ...]]) -> Any:
        rows = [row.get(prefix, [1.0, 0, 0, 0, 0]) for prefix in prefixes]
        return np.log(np.maximum(rows, 1e-9)), None

    def shared(sentence: int, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        return len(set(one[:-1]) & set(other[:-1])) / max(len(one), len(other))

    [[best]] = decode(
        evaluate, 1, search="mbr", samples=300, metric=shared, eos=0, max_len=3, epsilon=0.02
    )
    assert best.tokens in ((2, 4, 0), (3, 4, 0))
