"""The fast searches against the slow, obvious ones, on thousands of random toy problems."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairseq_mcts.search.random_numbers import uniform
from tests.search.compare import (
    assert_same_accounts,
    assert_same_extra_sentences,
    assert_same_list,
    assert_same_sentence,
    assert_same_steps,
    by_sentence_id,
    rules_of,
    run,
)
from tests.search.reference_beam import BeamOptions, VgbsOptions, reference_beam, reference_vgbs
from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.reference_sr import SrOptions, reference_sr
from tests.search.toy_models import VALUES, ToyMetric, ToyProblem, toy_problems

MCTS_SWITCHES = [
    (leaf, terminal, backup, choose)
    for leaf, terminal in (("value", "value"), ("value", "metric"), ("rollout", "value"))
    for backup in ("mean", "max")
    for choose in ("visits", "value")
]
# the backups beyond the paper's
BACKUP_SWITCHES = [
    ("value", "value", backup, choose)
    for backup in ("bellman", "weighted-max", "power")
    for choose in ("visits", "value")
] + [(*switch, "bellman", "value") for switch in (("value", "metric"), ("rollout", "value"))]
# how the root selects and chooses, how nodes below it select, what a leaf is worth, the backup
GUMBEL_SWITCHES = [
    ("gumbel", "puct", "value", "mean"),
    ("gumbel", "improved", "value", "mean"),
    ("gumbel", "improved", "value", "max"),
    ("gumbel", "puct", "value", "bellman"),
    ("gumbel", "improved", "rollout", "mean"),
    ("puct", "improved", "value", "mean"),
]
MODELS_PER_MCTS_SWITCH = 90
MODELS_PER_BACKUP_SWITCH = 250
MODELS_PER_GUMBEL_SWITCH = 350
MODELS_PER_VGBS_SCALE = 250
MODELS_PER_BEAM_NORMALIZATION = 130
MODELS_PER_SR_RANKING = 250


def test_that_six_thousand_models_are_compared() -> None:
    total = (
        MODELS_PER_MCTS_SWITCH * len(MCTS_SWITCHES)
        + MODELS_PER_BACKUP_SWITCH * len(BACKUP_SWITCHES)
        + MODELS_PER_GUMBEL_SWITCH * len(GUMBEL_SWITCHES)
        + MODELS_PER_VGBS_SCALE * 2
        + MODELS_PER_BEAM_NORMALIZATION * 3
        + MODELS_PER_SR_RANKING * 2
    )
    assert total >= 6000


def random_models(count: int) -> Any:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


metrics = st.builds(
    ToyMetric,
    seed=st.integers(0, 2**16),
    kind=st.sampled_from(VALUES),
    batched=st.booleans(),
)


def with_metric(problem: ToyProblem, metric: ToyMetric, needed: bool) -> dict[str, Any]:
    return {"metric": by_sentence_id(problem, metric)} if needed else {}


@pytest.mark.slow
@pytest.mark.parametrize(("leaf", "terminal", "backup", "choose"), MCTS_SWITCHES)
@given(data=st.data())
@random_models(MODELS_PER_MCTS_SWITCH)
def test_mcts(leaf: str, terminal: str, backup: str, choose: str, data: st.DataObject) -> None:
    compare_mcts(data, leaf=leaf, terminal=terminal, backup=backup, choose=choose)


@pytest.mark.slow
@pytest.mark.parametrize(("leaf", "terminal", "backup", "choose"), BACKUP_SWITCHES)
@given(data=st.data())
@random_models(MODELS_PER_BACKUP_SWITCH)
def test_mcts_with_other_backups(
    leaf: str, terminal: str, backup: str, choose: str, data: st.DataObject
) -> None:
    switches: dict[str, Any] = {"leaf": leaf, "terminal": terminal}
    switches |= {"backup": backup, "choose": choose}
    if backup == "power":
        switches["power"] = data.draw(st.sampled_from((1.0, 2.0, 3.7, 16.0)), label="power")
    compare_mcts(data, **switches)


@pytest.mark.slow
@pytest.mark.parametrize(("root", "below_root", "leaf", "backup"), GUMBEL_SWITCHES)
@given(data=st.data())
@random_models(MODELS_PER_GUMBEL_SWITCH)
def test_mcts_with_gumbel(
    root: str, below_root: str, leaf: str, backup: str, data: st.DataObject
) -> None:
    compare_mcts(
        data,
        root=root,
        below_root=below_root,
        leaf=leaf,
        backup=backup,
        gumbel_actions=data.draw(st.sampled_from((1, 2, 3, 4, 7, 16)), label="gumbel_actions"),
        gumbel_scale=data.draw(st.sampled_from((0.0, 0.0, 0.31, 1.0)), label="gumbel_scale"),
        c_visit=data.draw(st.sampled_from((0.0, 3.1, 50.0)), label="c_visit"),
        c_scale=data.draw(st.sampled_from((0.0, 0.113, 1.0)), label="c_scale"),
    )


def compare_mcts(data: st.DataObject, **switches: Any) -> None:
    problem = data.draw(toy_problems(), label="problem")
    metric = data.draw(metrics, label="metric")
    options = MctsOptions(
        simulations=data.draw(st.integers(1, 30), label="simulations"),
        actions=data.draw(st.sampled_from((1, 2, 3, 20)), label="actions"),
        # odd numbers, so that no exploration bonus ties with a value by accident of rounding;
        # ties that the rules themselves make are in test_exact_ties.py
        c_puct=data.draw(st.sampled_from((0.0, 0.31, 1.37, 3.0, 8.17)), label="c_puct"),
        temperature=data.draw(st.sampled_from((0.25, 0.9, 1.0, 1.1, 4.0)), label="temperature"),
        leaves=data.draw(st.sampled_from((1, 1, 2, 5)), label="leaves"),
        **switches,
    )
    seed = data.draw(st.integers(0, 2**31), label="seed")
    n_best = data.draw(st.integers(1, 4), label="n_best")
    uses_metric = options.leaf == "rollout" or options.terminal == "metric"
    results, evaluate = run(
        problem,
        search="mcts",
        trace=True,
        n_best=n_best,
        seed=seed,
        **vars(options),
        **with_metric(problem, metric, uses_metric),
    )
    for index, sentence in enumerate(problem.sentence_ids):
        reference = ReferenceMcts(
            problem.model, sentence, rules_of(problem, index), options, metric.score, seed
        ).decode()
        best, *others = results[index]
        assert_same_sentence(best, reference.best)
        assert_same_steps(best, reference)
        assert len(others) == min(n_best - 1, len(reference.others))
        assert_same_extra_sentences(others, reference.others)
        asked = evaluate.asked[index]
        if options.leaf == "value":
            assert_same_accounts(results[index], reference.charged, reference.asked, asked)
            assert asked == reference.asked, "the nodes were not expanded in this order"
        else:
            # A completion cut at max_len needs no network for its last token, but may ask.
            _, max_len = problem.lengths(index)
            needed = [p for p in reference.asked if p in asked or len(p) < max_len]
            assert_same_accounts(results[index], reference.charged, needed, asked)


@pytest.mark.slow
@pytest.mark.parametrize("value_scale", ["plain", "log"])
@given(data=st.data())
@random_models(MODELS_PER_VGBS_SCALE)
def test_vgbs(value_scale: str, data: st.DataObject) -> None:
    problem = data.draw(toy_problems(), label="problem")
    # Sums of few levels tie often. Tempered they are no longer multiples of a power of two, and
    # rounding would decide such a tie.
    temperatures = (1.0,) if problem.model.policy == "levels" else (0.25, 0.9, 1.0, 1.1)
    options = VgbsOptions(
        beam=data.draw(st.integers(1, 5), label="beam"),
        alpha=data.draw(st.sampled_from((0.0, 0.25, 0.5, 0.9, 1.0)), label="alpha"),
        temperature=data.draw(st.sampled_from(temperatures), label="temperature"),
        value_scale=value_scale,
        value_bounds=data.draw(st.sampled_from(((1e-6, 1.0), (0.1, 0.7))), label="value_bounds"),
        highest_value=data.draw(
            st.sampled_from((math.inf, 1.0, problem.model.highest_value)), label="highest_value"
        ),
    )
    n_best = data.draw(st.integers(1, options.beam), label="n_best")
    results, evaluate = run(problem, search="vgbs", n_best=n_best, **vars(options))
    for index, sentence in enumerate(problem.sentence_ids):
        reference = reference_vgbs(problem.model, sentence, rules_of(problem, index), options)
        assert_same_list(results[index], reference.answers[:n_best])
        assert_same_accounts(
            results[index], reference.charged, reference.needed, evaluate.asked[index]
        )


@pytest.mark.slow
@pytest.mark.parametrize("normalization", ["length", "gnmt", "none"])
@given(data=st.data())
@random_models(MODELS_PER_BEAM_NORMALIZATION)
def test_beam(normalization: str, data: st.DataObject) -> None:
    problem = data.draw(toy_problems(), label="problem")
    options = BeamOptions(
        beam=data.draw(st.integers(1, 6), label="beam"),
        length_penalty=data.draw(st.sampled_from((0.0, 0.6, 1.0, 2.0)), label="length_penalty"),
        normalization=normalization,
    )
    n_best = data.draw(st.integers(1, options.beam), label="n_best")
    results, evaluate = run(problem, search="beam", n_best=n_best, **vars(options))
    for index, sentence in enumerate(problem.sentence_ids):
        reference = reference_beam(problem.model, sentence, rules_of(problem, index), options)
        assert_same_list(results[index], reference.answers[:n_best])
        assert_same_accounts(
            results[index], reference.charged, reference.asked, evaluate.asked[index]
        )


@pytest.mark.slow
@pytest.mark.parametrize("rank_by", ["value", "metric"])
@given(data=st.data())
@random_models(MODELS_PER_SR_RANKING)
def test_sr(rank_by: str, data: st.DataObject) -> None:
    problem = data.draw(toy_problems(), label="problem")
    metric = data.draw(metrics, label="metric")
    options = SrOptions(
        samples=data.draw(st.integers(1, 20), label="samples"),
        temperature=data.draw(st.sampled_from((0.25, 0.75, 1.0, 3.0)), label="temperature"),
        top_k=data.draw(st.sampled_from((0, 1, 2, 3, 50)), label="top_k"),
        # never a mass that equally probable tokens reach exactly: rounding would decide
        top_p=data.draw(st.sampled_from((1.0, 0.9137, 0.613, 0.041)), label="top_p"),
        epsilon=data.draw(st.sampled_from((0.0, 0.0213, 0.213, 0.713)), label="epsilon"),
        rank_by=rank_by,
    )
    count = len(problem.sentence_ids)
    a_seed = st.integers(0, 2**31 - 1)
    seeds = data.draw(
        st.one_of(a_seed, st.lists(a_seed, min_size=count, max_size=count)), label="seed"
    )
    n_best = data.draw(st.integers(1, options.samples), label="n_best")
    results, evaluate = run(
        problem,
        search="sr",
        seed=seeds,
        n_best=n_best,
        **vars(options),
        **with_metric(problem, metric, rank_by == "metric"),
    )
    for index, sentence in enumerate(problem.sentence_ids):
        reference = reference_sr(
            problem.model,
            sentence,
            rules_of(problem, index),
            options,
            seed=seeds if isinstance(seeds, int) else seeds[index],
            uniform=uniform,
            metric=metric.score,
        )
        assert_same_list(results[index], reference.answers[:n_best])
        assert_same_accounts(
            results[index], reference.charged, reference.asked, evaluate.asked[index]
        )
