"""Defaults, budgets and presets say what they are documented to say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search.compare import run
from tests.search.toy_models import ToyMetric, ToyModel, ToyProblem

PROBLEM = ToyProblem(ToyModel(vocab=9, eos=2, seed=5, policy="flat"), (3, 8), max_len=5)
METRIC = ToyMetric(seed=3)


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return run(PROBLEM, **first)[0] == run(PROBLEM, **second)[0]


@pytest.mark.parametrize(
    ("search", "spelled_out"),
    [
        (
            "mcts",
            {
                "simulations": 50,
                "actions": 20,
                "c_puct": 3.0,
                "temperature": 1.0,
                "backup": "mean",
                "choose": "visits",
                "leaf": "value",
                "terminal": "value",
                "root": "puct",
                "below_root": "puct",
            },
        ),
        ("mcts", {"gumbel_actions": 16, "gumbel_scale": 0.0, "c_scale": 0.05, "c_visit": 50.0}),
        ("mcts", {"power": 4.0}),
        ("vgbs", {"beam": 7, "alpha": 0.5, "temperature": 1.0, "value_scale": "plain"}),
        ("vgbs", {"value_bounds": (1e-6, 1.0)}),
        ("beam", {"beam": 5, "length_penalty": 1.0, "normalization": "length"}),
        (
            "sr",
            {
                "samples": 50,
                "temperature": 1.0,
                "top_k": 0,
                "top_p": 1.0,
                "epsilon": 0.0,
                "rank_by": "value",
            },
        ),
    ],
)
def test_defaults(search: str, spelled_out: dict[str, Any]) -> None:
    common = {"min_len": 0, "forbidden": (), "prefixes": None, "n_best": 1, "seed": 0}
    switches = {"no_repeat_ngram_size": 0, "budget": None, "preset": None}
    assert same({"search": search}, {"search": search, **spelled_out, **common, **switches})


def test_mcts_is_the_default_search() -> None:
    assert same({}, {"search": "mcts"})


@pytest.mark.parametrize(
    ("search", "budget", "meaning"),
    [
        ("mcts", 17, {"simulations": 17}),
        ("sr", 17, {"samples": 17}),
        ("beam", 4, {"beam": 4}),
        # the smallest k with k + k² >= n
        ("vgbs", 1, {"beam": 1}),
        ("vgbs", 2, {"beam": 1}),
        ("vgbs", 3, {"beam": 2}),
        ("vgbs", 6, {"beam": 2}),
        ("vgbs", 7, {"beam": 3}),
        ("vgbs", 50, {"beam": 7}),
        ("vgbs", 56, {"beam": 7}),
        ("vgbs", 57, {"beam": 8}),
    ],
)
def test_a_budget_is_the_searchs_own_measure(
    search: str, budget: int, meaning: dict[str, Any]
) -> None:
    assert same({"search": search, "budget": budget}, {"search": search, **meaning})


@pytest.mark.parametrize(
    ("search", "own"),
    [("mcts", "simulations"), ("sr", "samples"), ("vgbs", "beam"), ("beam", "beam")],
)
def test_an_option_of_its_own_beats_the_budget(search: str, own: str) -> None:
    assert same({"search": search, own: 4, "budget": 30}, {"search": search, own: 4})


PRESETS = [
    (
        "mcts",
        "privileged",
        {"temperature": 0.9, "c_puct": 3.0, "backup": "mean", "choose": "visits"},
    ),
    (
        "mcts",
        "unprivileged",
        {"temperature": 1.1, "c_puct": 8.0, "backup": "max", "choose": "value"},
    ),
    ("vgbs", "privileged", {"alpha": 0.5}),
    ("vgbs", "unprivileged", {"alpha": 0.9}),
    ("sr", "privileged", {"temperature": 0.25}),
    ("sr", "unprivileged", {"temperature": 0.75}),
]


@pytest.mark.parametrize(("search", "preset", "meaning"), PRESETS)
def test_presets(search: str, preset: str, meaning: dict[str, Any]) -> None:
    # S+RV is the privileged row of the paper, S+R the unprivileged one; the ranking stays explicit
    assert same({"search": search, "preset": preset}, {"search": search, **meaning})


@pytest.mark.parametrize(("search", "preset", "meaning"), PRESETS)
def test_an_explicit_option_beats_the_preset(
    search: str, preset: str, meaning: dict[str, Any]
) -> None:
    name = next(iter(meaning))
    explicit = {name: 0.7}
    expected = {"search": search, **meaning, **explicit}
    assert same({"search": search, "preset": preset, **explicit}, expected)
    default = {"temperature": 1.0, "alpha": 0.5}[name]  # given explicitly it is no less explicit
    expected = {"search": search, **meaning, name: default}
    assert same({"search": search, "preset": preset, name: default}, expected)


@pytest.mark.parametrize("search", ["mcts", "vgbs", "beam", "sr"])
def test_fewer_answers_are_the_head_of_more(search: str) -> None:
    one, _ = run(PROBLEM, search=search, n_best=1)
    five, _ = run(PROBLEM, search=search, n_best=5)
    for short, long in zip(one, five, strict=True):
        assert len(short) == 1
        assert short == long[:1]
        assert len({hypothesis.tokens for hypothesis in long}) == len(long) <= 5


def test_a_trace_is_kept_only_when_asked_for() -> None:
    with_trace, _ = run(PROBLEM, search="mcts", trace=True)
    without, _ = run(PROBLEM, search="mcts")
    for traced, plain in zip(with_trace, without, strict=True):
        assert not plain[0].steps
        assert len(traced[0].steps) == len(traced[0].tokens)
        assert (traced[0].tokens, traced[0].value) == (plain[0].tokens, plain[0].value)
        assert traced[0].evaluations == plain[0].evaluations


def test_no_sentences_no_results() -> None:
    nothing = ToyProblem(PROBLEM.model, (), max_len=3)
    for search in ("mcts", "vgbs", "beam", "sr"):
        assert run(nothing, search=search)[0] == []


def test_where_no_value_is_asked_for_there_is_none() -> None:
    for options in ({"search": "beam"}, {"search": "vgbs", "alpha": 0.0}):
        for row in run(PROBLEM, **options)[0]:
            assert row[0].value is None


def test_the_value_is_that_of_the_finished_sentence() -> None:
    for options in ({"search": "mcts"}, {"search": "sr"}, {"search": "vgbs"}):
        for sentence, row in zip(PROBLEM.sentence_ids, run(PROBLEM, **options)[0], strict=True):
            assert row[0].value == PROBLEM.model(sentence, row[0].tokens)[1]
    for options in ({"search": "mcts", "leaf": "rollout"}, {"search": "sr", "rank_by": "metric"}):
        alone = PROBLEM.only(0)
        row = run(alone, metric=lambda s, tokens: METRIC.score(3, tokens), **options)[0][0]
        assert row[0].value == row[0].score == METRIC.score(3, row[0].tokens)
