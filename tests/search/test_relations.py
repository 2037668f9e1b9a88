"""Relations between searches that must hold token for token, whatever the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.search import decode
from fairseq_mcts.search.random_numbers import uniform
from tests.search.compare import by_sentence_id, rules_of, run
from tests.search.reference_rules import tempered
from tests.search.reference_sr import draw
from tests.search.toy_models import (
    Prefix,
    ToyEvaluator,
    ToyMetric,
    ToyModel,
    ToyProblem,
    toy_problems,
)

quick = settings(max_examples=40, deadline=None, derandomize=True, database=None)

# One example of each search, with a budget that differs from all others.
SEARCHES: dict[str, dict[str, Any]] = {
    "mcts": {"search": "mcts", "simulations": 9, "trace": True},
    "mcts max value": {
        "search": "mcts",
        "simulations": 13,
        "backup": "max",
        "choose": "value",
        "trace": True,
    },
    "mcts rollout": {"search": "mcts", "simulations": 7, "leaf": "rollout", "trace": True},
    "mcts terminal metric": {"search": "mcts", "simulations": 11, "terminal": "metric"},
    "mcts gumbel": {
        "search": "mcts",
        "simulations": 10,
        "root": "gumbel",
        "below_root": "improved",
        "gumbel_actions": 4,
        "gumbel_scale": 1.0,
        "seed": 5,
        "trace": True,
    },
    "mcts bellman": {"search": "mcts", "simulations": 12, "backup": "bellman", "trace": True},
    "mcts power": {"search": "mcts", "simulations": 14, "backup": "power", "trace": True},
    "mcts weighted max": {
        **{"search": "mcts", "simulations": 15, "backup": "weighted-max", "trace": True},
    },
    "vgbs": {"search": "vgbs", "beam": 3, "alpha": 0.6, "n_best": 3},
    "beam": {"search": "beam", "beam": 4, "n_best": 4},
    "sr value": {"search": "sr", "samples": 6, "n_best": 6},
    "sr metric": {"search": "sr", "samples": 8, "rank_by": "metric", "n_best": 8},
    "sr distinct": {"search": "sr", "samples": 5, "without_replacement": True, "n_best": 5},
    "mbr": {"search": "mbr", "samples": 7, "prune": 0.9},
}
METRIC = ToyMetric(seed=17)


def likeness(sentence: int, one: Prefix, other: Prefix) -> float:
    return len(set(one) & set(other)) / max(len(one), len(other))


def search_options(name: str, problem: ToyProblem) -> dict[str, Any]:
    options = dict(SEARCHES[name])
    if options["search"] == "mbr":
        options["metric"] = likeness
    if "metric" in (options.get("rank_by"), options.get("terminal")) or "leaf" in options:
        options["metric"] = by_sentence_id(problem, METRIC)
    return options


def greedy(problem: ToyProblem, index: int = 0) -> Prefix:
    rules = rules_of(problem, index)
    tokens: Prefix = ()
    while not rules.finished(tokens):
        logprobs, _ = problem.model(problem.sentence_ids[index], tokens)
        allowed = rules.allowed(tokens)
        tokens = (*tokens, max(allowed, key=lambda token: (logprobs[token], -token)))
    return tokens


def all_greedy(problem: ToyProblem) -> list[Prefix]:
    return [greedy(problem, index) for index in range(len(problem.sentence_ids))]


def best_tokens(problem: ToyProblem, **options: Any) -> list[Prefix]:
    results, _ = run(problem, **options)
    return [hypotheses[0].tokens for hypotheses in results]


# ---- greedy in all its disguises ----


@given(
    problem=toy_problems(),
    temperature=st.sampled_from((0.25, 1.0, 4.0)),
    c_puct=st.sampled_from((0.1, 3.0)),
    backup=st.sampled_from(("mean", "max")),
    choose=st.sampled_from(("visits", "value")),
)
@quick
def test_mcts_with_one_simulation_is_greedy(problem: ToyProblem, **options: Any) -> None:
    assert best_tokens(problem, search="mcts", simulations=1, **options) == all_greedy(problem)


@given(
    problem=toy_problems(),
    simulations=st.integers(1, 20),
    rules=st.sampled_from(({}, {"root": "gumbel", "gumbel_scale": 1.0}, {"backup": "bellman"})),
)
@quick
def test_mcts_with_one_action_is_greedy(
    problem: ToyProblem, simulations: int, rules: dict[str, Any]
) -> None:
    found = best_tokens(problem, search="mcts", simulations=simulations, actions=1, **rules)
    assert found == all_greedy(problem)


@given(problem=toy_problems(), simulations=st.integers(1, 20))
@quick
def test_a_gumbel_root_without_noise_and_with_one_action_is_greedy(
    problem: ToyProblem, simulations: int
) -> None:
    gumbel = {"search": "mcts", "root": "gumbel"}
    one_simulation = best_tokens(problem, simulations=1, **gumbel)
    one_considered = best_tokens(problem, simulations=simulations, gumbel_actions=1, **gumbel)
    assert one_simulation == one_considered == all_greedy(problem)


# ---- the power mean lies between mean and maximum ----


@pytest.mark.parametrize(("power", "limit"), [(1.0, "mean"), (1e6, "max")])
@given(problem=toy_problems())
@quick
def test_the_ends_of_the_power_mean(power: float, limit: str, problem: ToyProblem) -> None:
    """With one action a node, so that no selection goes by what was rounded."""
    options: dict[str, Any] = {"search": "mcts", "simulations": 2, "actions": 1, "trace": True}
    found, _ = run(problem, backup="power", power=power, **options)
    expected, _ = run(problem, backup=limit, **options)
    for row, expected_row in zip(found, expected, strict=True):
        for step, expected_step in zip(row[0].steps, expected_row[0].steps, strict=True):
            for token, (_, q) in step.children.items():
                assert abs(q - expected_step.children[token][1]) < 1e-5


@given(problem=toy_problems())
@quick
def test_beam_of_one_is_greedy(problem: ToyProblem) -> None:
    # With one beam EOS ends the search as soon as it is the best proposal.
    assert best_tokens(problem, search="beam", beam=1) == all_greedy(problem)
    assert best_tokens(problem, search="vgbs", beam=1, alpha=0.0) == all_greedy(problem)


@given(problem=toy_problems(), seed=st.integers(0, 99))
@quick
def test_sampling_the_most_probable_token_alone_is_greedy(problem: ToyProblem, seed: int) -> None:
    for support in ({"top_k": 1}, {"top_p": 1e-9}, {"epsilon": 0.999999}):
        found = best_tokens(problem, search="sr", samples=3, seed=seed, **support)
        assert found == all_greedy(problem), support


# ---- value-guided beam search and beam search ----


@given(problem=toy_problems(), beam=st.integers(1, 6))
@quick
def test_vgbs_without_value_is_beam_search(problem: ToyProblem, beam: int) -> None:
    guided, guided_asked = run(problem, search="vgbs", beam=beam, alpha=0.0, n_best=beam)
    plain, plain_asked = run(problem, search="beam", beam=beam, length_penalty=1.0, n_best=beam)
    assert guided == plain
    assert guided_asked.asked == plain_asked.asked


@given(problem=toy_problems(), beam=st.integers(1, 6))
@quick
def test_equal_values_guide_nowhere(problem: ToyProblem, beam: int) -> None:
    indifferent = replace(problem, model=replace(problem.model, values="zero"))
    # 0.5 · L / t ranks as L / t does, exactly: halving is exact
    guided, _ = run(indifferent, search="vgbs", beam=beam, alpha=0.5, n_best=beam)
    plain, _ = run(indifferent, search="beam", beam=beam, n_best=beam)
    assert [[h.tokens for h in row] for row in guided] == [[h.tokens for h in row] for row in plain]


def test_vgbs_evaluates_less_where_values_are_known_to_be_small() -> None:
    """The less a value can be at most, the fewer evaluations; and the same comes out."""
    model = ToyModel(vocab=12, eos=0, seed=5, policy="peaked", values="negative")
    problem = ToyProblem(model, tuple(range(20)), max_len=8)
    found = {
        highest: run(problem, search="vgbs", beam=5, alpha=0.3, highest_value=highest)[0]
        for highest in (0.0, 1.0, np.inf)
    }
    made = {}
    for highest, results in found.items():
        for [one], [other] in zip(results, found[np.inf], strict=True):
            assert one.tokens == other.tokens
            assert one.score == other.score
            assert one.evaluations.charged == other.evaluations.charged
        made[highest] = sum(one.evaluations.made for [one] in results)
    assert made[0.0] < made[1.0] < made[np.inf]


# ---- samples ----


def plain_sample(problem: ToyProblem, seed: int, sample: int, temperature: float) -> Prefix:
    rules = rules_of(problem)
    tokens: Prefix = ()
    while not rules.finished(tokens):
        logprobs, _ = problem.model(problem.sentence_ids[0], tokens)
        policy = tempered(logprobs, rules.allowed(tokens), temperature)
        tokens = (*tokens, draw(policy, uniform(seed, sample, len(tokens))))
    return tokens


@given(
    problem=toy_problems(max_sentences=1),
    seed=st.integers(0, 2**31),
    temperature=st.sampled_from((0.25, 1.0, 2.0)),
)
@quick
def test_one_sample_is_one_plain_sample(problem: ToyProblem, seed: int, temperature: float) -> None:
    for rank_by in ("value", "metric"):
        metric = {"metric": METRIC} if rank_by == "metric" else {}
        found = best_tokens(
            problem,
            search="sr",
            samples=1,
            seed=seed,
            temperature=temperature,
            rank_by=rank_by,
            **metric,
        )
        assert found == [plain_sample(problem, seed, 0, temperature)]


@given(problem=toy_problems(max_sentences=1), seed=st.integers(0, 2**31))
@quick
def test_more_samples_add_to_the_same_samples(problem: ToyProblem, seed: int) -> None:
    few, _ = run(problem, search="sr", samples=4, n_best=4, seed=seed)
    many, _ = run(problem, search="sr", samples=12, n_best=12, seed=seed)
    drawn = {plain_sample(problem, seed, sample, 1.0) for sample in range(12)}
    assert {h.tokens for h in few[0]} <= {h.tokens for h in many[0]} == drawn


# ---- sentences do not know of one another ----


@pytest.mark.parametrize("name", SEARCHES)
@given(problem=toy_problems(max_sentences=5))
@quick
def test_a_sentence_alone_is_decoded_as_in_a_batch(name: str, problem: ToyProblem) -> None:
    together, asked_together = run(problem, **search_options(name, problem))
    for index in range(len(problem.sentence_ids)):
        alone = problem.only(index)
        result, asked_alone = run(alone, **search_options(name, alone))
        assert result[0] == together[index]
        assert asked_alone.asked[0] == asked_together.asked[index]


@pytest.mark.parametrize("name", [name for name in SEARCHES if name.startswith("mcts")])
def test_batches_of_one_and_seven_and_sixty_four(name: str) -> None:
    problem = ToyProblem(ToyModel(vocab=9, eos=3, seed=5, policy="peaked"), tuple(range(64)), 5)
    found = []
    for size in (1, 7, 64):
        parts = [problem.of(range(64)[begin : begin + size]) for begin in range(0, 64, size)]
        found.append([one for part in parts for one in run(part, **search_options(name, part))[0]])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", SEARCHES)
@given(problem=toy_problems(max_sentences=4))
@quick
def test_twins_in_a_batch_are_decoded_alike(name: str, problem: ToyProblem) -> None:
    doubled = problem.of([*range(len(problem.sentence_ids)), 0, 0])
    results, _ = run(doubled, **search_options(name, doubled))
    assert results[0] == results[-1] == results[-2]


@pytest.mark.parametrize("name", ["sr value", "mcts gumbel"])
@given(
    problem=toy_problems(max_sentences=4),
    seeds=st.lists(st.integers(0, 2**31), min_size=4, max_size=4),
)
@quick
def test_seeds_of_ones_own(name: str, problem: ToyProblem, seeds: list[int]) -> None:
    seeds = seeds[: len(problem.sentence_ids)]
    together, _ = run(problem, **{**SEARCHES[name], "seed": seeds})
    for index, seed in enumerate(seeds):
        alone, _ = run(problem.only(index), **{**SEARCHES[name], "seed": seed})
        assert alone[0] == together[index]


@pytest.mark.parametrize("name", SEARCHES)
@given(problem=toy_problems())
@quick
def test_the_same_call_gives_the_same_answer(name: str, problem: ToyProblem) -> None:
    first, _ = run(problem, **search_options(name, problem))
    second, _ = run(problem, **search_options(name, problem))
    assert first == second


COUNTS = [("mcts", "simulations"), ("vgbs", "beam"), ("beam", "beam"), ("sr", "samples")]
BUDGETS = [("mcts", "budget"), ("vgbs", "budget"), ("beam", "budget"), ("sr", "budget")]


@pytest.mark.parametrize(("search", "count"), COUNTS + BUDGETS)
@given(
    problem=toy_problems(max_sentences=4),
    counts=st.lists(st.integers(1, 9), min_size=4, max_size=4),
)
@quick
def test_budgets_of_ones_own(
    search: str, count: str, problem: ToyProblem, counts: list[int]
) -> None:
    counts = counts[: len(problem.sentence_ids)]
    trace = {"trace": True} if search == "mcts" else {}
    together, _ = run(problem, search=search, **{count: counts}, **trace)
    for index, own in enumerate(counts):
        alone, _ = run(problem.only(index), search=search, **{count: own}, **trace)
        assert alone[0] == together[index]


# ---- forced prefixes ----


@pytest.mark.parametrize("name", [name for name in SEARCHES if name.startswith("mcts")])
@given(problem=toy_problems(max_sentences=1), data=st.data())
@quick
def test_forcing_its_own_tokens_changes_nothing(
    name: str, problem: ToyProblem, data: st.DataObject
) -> None:
    """Each token has a fresh tree, so how the tokens before it came about is of no matter."""
    tokens = best_tokens(problem, **search_options(name, problem))[0]
    cut = data.draw(st.integers(len(problem.forced(0)), len(tokens) - 1))
    forced = replace(problem, prefixes=(tokens[:cut],))
    assert best_tokens(forced, **search_options(name, forced)) == [tokens]


# ---- values ----


class Transformed:
    """A toy model whose values are another function of the prefix."""

    def __init__(self, model: ToyModel, value: Any) -> None:
        self.model = model
        self.value = value

    def __call__(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        logprobs, value = self.model(sentence, prefix)
        return logprobs, self.value(sentence, prefix, value)


def decode_transformed(problem: ToyProblem, value: Any, **options: Any) -> list[list[Any]]:
    model = Transformed(problem.model, value)
    evaluate = ToyEvaluator(model, problem.model.eos, problem.sentence_ids)
    count = len(problem.sentence_ids)
    return decode(evaluate, count, **{**problem.decode_options(), **options})


@pytest.mark.parametrize("name", ["mcts", "mcts max value"])
@given(problem=toy_problems())
@quick
def test_mcts_does_not_mind_the_scale_of_the_values(name: str, problem: ToyProblem) -> None:
    if problem.model.values == "narrow":
        return  # below the smallest divisor the scale does matter
    plain, _ = run(problem, **SEARCHES[name])
    scaled = decode_transformed(problem, lambda s, p, value: 4.0 * value, **SEARCHES[name])
    for row, scaled_row in zip(plain, scaled, strict=True):
        assert row[0].tokens == scaled_row[0].tokens
        for step, scaled_step in zip(row[0].steps, scaled_row[0].steps, strict=True):
            expected = {token: (n, 4.0 * q) for token, (n, q) in step.children.items()}
            assert scaled_step.children == expected


@pytest.mark.parametrize("backup", ["mean", "max"])
@given(problem=toy_problems())
@quick
def test_rollouts_equal_a_value_that_knows_them(backup: str, problem: ToyProblem) -> None:
    """A value head that gives the metric of the greedy completion makes rollouts superfluous."""
    indices = {sentence: i for i, sentence in enumerate(problem.sentence_ids)}

    def rolled_out(sentence: int, prefix: Prefix, value: float) -> float:
        rules = rules_of(problem, indices[sentence])
        while not rules.finished(prefix):
            logprobs, _ = problem.model(sentence, prefix)
            allowed = rules.allowed(prefix)
            prefix = (*prefix, max(allowed, key=lambda token: (logprobs[token], -token)))
        return METRIC.score(sentence, prefix)

    options = {"search": "mcts", "simulations": 10, "backup": backup, "trace": True}
    metric = by_sentence_id(problem, METRIC)
    rollouts, _ = run(problem, leaf="rollout", metric=metric, **options)
    known = decode_transformed(problem, rolled_out, **options)
    for row, known_row in zip(rollouts, known, strict=True):
        assert row[0].tokens == known_row[0].tokens
        assert row[0].steps == known_row[0].steps
        assert row[0].value == known_row[0].value


@given(problem=toy_problems())
@quick
def test_terminal_metric_equals_a_value_that_knows_it(problem: ToyProblem) -> None:
    def informed(sentence: int, prefix: Prefix, value: float) -> float:
        finished = prefix[-1:] == (problem.model.eos,)
        return METRIC.score(sentence, prefix) if finished else value

    options = {"search": "mcts", "simulations": 12, "trace": True}
    metric = by_sentence_id(problem, METRIC)
    by_metric, _ = run(problem, terminal="metric", metric=metric, **options)
    by_value = decode_transformed(problem, informed, **options)
    for row, other in zip(by_metric, by_value, strict=True):
        assert (row[0].tokens, row[0].value) == (other[0].tokens, other[0].value)
        assert row[0].steps == other[0].steps
        assert row[0].evaluations.charged == other[0].evaluations.charged
        assert row[0].evaluations.made <= other[0].evaluations.made


@given(problem=toy_problems())
@quick
def test_batched_metrics_change_nothing(problem: ToyProblem) -> None:
    for name in ("mcts rollout", "mcts terminal metric", "sr metric"):
        one_by_one, _ = run(problem, **search_options(name, problem))
        batched = by_sentence_id(problem, ToyMetric(METRIC.seed, METRIC.kind, batched=True))
        at_once, _ = run(problem, **{**search_options(name, problem), "metric": batched})
        assert one_by_one == at_once
