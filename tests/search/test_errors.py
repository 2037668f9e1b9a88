"""Bad models and bad options: an error that names the sentence, the option and the fault."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import decode
from tests.search.toy_models import ToyEvaluator, ToyModel

EOS = 2
MODEL = ToyModel(vocab=6, eos=EOS, seed=1, policy="flat")
SEARCHES = ["mcts", "vgbs", "beam", "sr"]
METRIC = {"metric": lambda sentence, tokens: 0.5}


def call(evaluate: Any = None, count: int = 3, **options: Any) -> Any:
    evaluate = evaluate or ToyEvaluator(MODEL, EOS, range(count))
    return decode(evaluate, count, **{"eos": EOS, "max_len": 4, **options})


# ---- what the model returns ----


class Broken(ToyEvaluator):
    """A model that goes wrong for sentence 1, after its first token."""

    def __init__(self, logprob: float | None = None, value: float | None = None) -> None:
        super().__init__(MODEL, EOS, range(3))
        self.logprob = logprob
        self.value = value

    def __call__(self, sentences: Any, prefixes: Any) -> Any:
        logprobs, values = super().__call__(sentences, prefixes)
        for row, (sentence, prefix) in enumerate(zip(sentences, prefixes, strict=True)):
            if sentence == 1 and len(prefix) == 1:
                if self.logprob is not None:
                    logprobs[row, 4] = self.logprob
                if self.value is not None:
                    values[row] = self.value
        return logprobs, values


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("search", SEARCHES)
def test_log_probabilities_that_are_no_numbers(search: str, fault: float) -> None:
    with pytest.raises(ValueError, match=r"(?i)sentence 1\b") as error:
        call(Broken(logprob=fault), search=search, min_len=2)
    assert re.search(r"(?i)log-?prob", str(error.value))


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("search", ["mcts", "vgbs"])
def test_values_that_are_no_numbers(search: str, fault: float) -> None:
    with pytest.raises(ValueError, match=r"(?i)sentence 1\b") as error:
        call(Broken(value=fault), search=search, min_len=2)
    assert re.search(r"(?i)value", str(error.value))


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
def test_values_of_finished_sentences_that_are_no_numbers(fault: float) -> None:
    class BrokenEnd(ToyEvaluator):
        def __call__(self, sentences: Any, prefixes: Any) -> Any:
            logprobs, values = super().__call__(sentences, prefixes)
            for row, (sentence, prefix) in enumerate(zip(sentences, prefixes, strict=True)):
                if sentence == 2 and prefix[-1:] == (EOS,):
                    values[row] = fault
            return logprobs, values

    for search in ("mcts", "vgbs", "sr"):
        with pytest.raises(ValueError, match=r"(?i)sentence 2\b") as error:
            call(BrokenEnd(MODEL, EOS, range(3)), search=search)
        assert re.search(r"(?i)value", str(error.value))


def test_a_value_above_the_highest() -> None:
    highest = 0.9 * max(MODEL(sentence, ())[1] for sentence in range(3))
    with pytest.raises(ValueError, match=f"^highest_value: is {highest}, but there is a value of"):
        call(ToyEvaluator(MODEL, EOS, range(3)), search="vgbs", highest_value=highest)


RESHAPED = {
    "one row too many": lambda lp, v: (np.concatenate([lp, lp[:1]]), v),
    "one value too many": lambda lp, v: (lp, np.concatenate([v, v[:1]])),
    "flat log-probabilities": lambda lp, v: (lp.ravel(), v),
    "a column of values": lambda lp, v: (lp, v[:, None]),
    "a third axis": lambda lp, v: (lp[:, :, None], v),
    "no vocabulary": lambda lp, v: (lp[:, :0], v),
    "one result": lambda lp, v: lp,
    "three results": lambda lp, v: (lp, v, v),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("shape", RESHAPED)
def test_wrong_shapes(search: str, shape: str) -> None:
    if search == "beam" and "value" in shape:
        return  # no value is asked for: `test_values_that_nobody_asks_for`
    evaluate = ToyEvaluator(MODEL, EOS, range(3))
    with pytest.raises(ValueError, match=r"(?i)evaluate"):
        call(lambda s, p: RESHAPED[shape](*evaluate(s, p)), search=search)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_vocabulary_that_changes_its_size(search: str) -> None:
    evaluate = ToyEvaluator(MODEL, EOS, range(3))

    def shrinking(sentences: Any, prefixes: Any) -> Any:
        logprobs, values = evaluate(sentences, prefixes)
        return (logprobs, values) if prefixes[0] == () else (logprobs[:, :-1], values)

    with pytest.raises(ValueError, match=r"evaluate .*\b5\b.*\b6\b"):
        call(shrinking, search=search, min_len=2)


@pytest.mark.parametrize("search", SEARCHES)
def test_an_error_of_the_model_comes_through(search: str) -> None:
    def failing(sentences: Any, prefixes: Any) -> Any:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        call(failing, search=search)


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"search": "mcts", "leaf": "rollout"},
        {"search": "mcts", "terminal": "metric"},
        {"search": "sr", "rank_by": "metric"},
    ],
)
def test_metrics_that_are_no_numbers(options: Any, batched: bool, fault: float) -> None:
    def one_by_one(sentence: int, tokens: Any) -> float:
        return fault if sentence == 1 else 0.5

    def at_once(sentences: list[int], tokens: Any) -> list[float]:
        return [one_by_one(s, t) for s, t in zip(sentences, tokens, strict=True)]

    at_once.batched = True  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"(?i)sentence 1\b") as error:
        call(metric=at_once if batched else one_by_one, **options)
    assert "metric" in str(error.value)


def test_a_batched_metric_with_too_few_scores() -> None:
    def short(sentences: list[int], tokens: Any) -> list[float]:
        return [0.5] * (len(sentences) - 1)

    short.batched = True  # type: ignore[attr-defined]
    for options in ({"search": "mcts", "leaf": "rollout"}, {"search": "sr", "rank_by": "metric"}):
        with pytest.raises(ValueError, match="metric"):
            call(metric=short, **options)


# ---- masks that leave nothing ----


@pytest.mark.parametrize("search", SEARCHES)
def test_nothing_left_after_masking(search: str) -> None:
    words = tuple(token for token in range(MODEL.vocab) if token != EOS)
    with pytest.raises(ValueError, match=r"(?i)sentence 0\b.*token|no token.*sentence 0\b"):
        call(search=search, forbidden=words, min_len=1)


@pytest.mark.parametrize("search", SEARCHES)
def test_nothing_left_after_ngrams_are_blocked(search: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)sentence \d"):
        call(search=search, no_repeat_ngram_size=1, min_len=6, max_len=8)


# ---- options common to all searches ----

BAD_COMMON = [
    ("max_len", {"max_len": 0}),
    ("max_len", {"max_len": -1}),
    ("max_len", {"max_len": 2.5}),
    ("min_len", {"min_len": -1}),
    ("min_len", {"min_len": 5}),
    ("eos", {"eos": -1}),
    ("eos", {"eos": 6}),
    ("forbidden", {"forbidden": (EOS,)}),
    ("forbidden", {"forbidden": (-1,)}),
    ("forbidden", {"forbidden": (6,)}),
    ("n_best", {"n_best": 0}),
    ("budget", {"budget": 0}),
    ("preset", {"preset": "cheating"}),
    ("no_repeat_ngram_size", {"no_repeat_ngram_size": -1}),
    ("prefixes", {"prefixes": ((1,), (1,))}),
]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("name", "options"), BAD_COMMON)
def test_bad_common_options(search: str, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name):
        call(search=search, **options)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("prefix", "options"),
    [
        ((1, 6), {}),  # outside the vocabulary
        ((1, -1), {}),
        ((1, 3), {"forbidden": (3,)}),
        ((1, EOS, 1), {}),  # goes on after its end
        ((1, 1, 1, 1, 1), {}),  # longer than max_len
        ((1, EOS), {"min_len": 2}),
    ],
)
def test_bad_prefixes(search: str, prefix: tuple[int, ...], options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"prefixes\[1\]"):
        call(search=search, prefixes=((), prefix, ()), **options)


def test_seeds_must_be_as_many_as_the_sentences() -> None:
    with pytest.raises(ValueError, match="seed"):
        call(search="sr", seed=(1, 2))


@pytest.mark.parametrize("name", ["max_len", "min_len", "simulations"])
def test_numbers_of_ones_own_must_be_as_many_as_the_sentences(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call(**{name: (2, 2)})


@pytest.mark.parametrize(
    ("name", "numbers"), [("max_len", (2, 0, 2)), ("min_len", (1, -1, 1)), ("min_len", (1, 5, 1))]
)
def test_a_bad_number_of_ones_own(name: str, numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=rf"{name}.*sentence.?1\b"):
        call(**{name: numbers})


def test_values_that_nobody_asks_for() -> None:
    """A policy without a value head may return anything in the value's place."""
    evaluate = ToyEvaluator(MODEL, EOS, range(3))
    rollout = {"search": "mcts", "leaf": "rollout", **METRIC}
    ranked = {"search": "sr", "rank_by": "metric", **METRIC}
    for options in ({"search": "beam"}, {"search": "vgbs", "alpha": 0.0}, rollout, ranked):
        with_values = call(evaluate, **options)
        assert call(lambda s, p: (evaluate(s, p)[0], None), **options) == with_values


def test_bad_number_of_sentences() -> None:
    with pytest.raises(ValueError, match="num_sentences"):
        decode(ToyEvaluator(MODEL, EOS, ()), -1, eos=EOS, max_len=3)


def test_unknown_search() -> None:
    with pytest.raises(ValueError, match=r"greedy.*mcts|mcts.*greedy"):
        call(search="greedy")


# ---- options of one search ----

BAD_OPTIONS = [
    ("mcts", "simulations", {"simulations": 0}),
    ("mcts", "simulations", {"simulations": -3}),
    ("mcts", "actions", {"actions": 0}),
    ("mcts", "c_puct", {"c_puct": -1.0}),
    ("mcts", "c_puct", {"c_puct": np.nan}),
    ("mcts", "c_puct", {"c_puct": np.inf}),
    ("mcts", "temperature", {"temperature": 0.0}),
    ("mcts", "temperature", {"temperature": -1.0}),
    ("mcts", "temperature", {"temperature": np.nan}),
    ("mcts", "temperature", {"temperature": np.inf}),
    ("mcts", "backup", {"backup": "median"}),
    ("mcts", "choose", {"choose": "prior"}),
    ("mcts", "power", {"power": 0.5}),
    ("mcts", "power", {"power": np.inf}),
    ("mcts", "root", {"root": "uct"}),
    ("mcts", "below_root", {"below_root": "gumbel"}),
    ("mcts", "gumbel_actions", {"gumbel_actions": 0}),
    ("mcts", "gumbel_scale", {"gumbel_scale": -1.0}),
    ("mcts", "c_scale", {"c_scale": np.nan}),
    ("mcts", "c_visit", {"c_visit": -1.0}),
    ("mcts", "leaf", {"leaf": "sample"}),
    ("mcts", "terminal", {"terminal": "bleu"}),
    ("mcts", "metric", {"leaf": "rollout"}),
    ("mcts", "metric", {"terminal": "metric"}),
    ("vgbs", "beam", {"beam": 0}),
    ("vgbs", "alpha", {"alpha": -0.1}),
    ("vgbs", "alpha", {"alpha": 1.1}),
    ("vgbs", "alpha", {"alpha": np.nan}),
    ("vgbs", "temperature", {"temperature": 0.0}),
    ("vgbs", "value_scale", {"value_scale": "sqrt"}),
    ("vgbs", "value_bounds", {"value_scale": "log", "value_bounds": (0.0, 1.0)}),
    ("vgbs", "value_bounds", {"value_scale": "log", "value_bounds": (0.9, 0.1)}),
    ("vgbs", "value_bounds", {"value_scale": "log", "value_bounds": (0.1, np.nan)}),
    ("vgbs", "value_bounds", {"value_scale": "log", "value_bounds": (0.1,)}),
    ("mcts", "metric", {"leaf": "rollout", "metric": 0.5}),
    ("sr", "metric", {"rank_by": "metric", "metric": 0.5}),
    ("mcts", "budget", {"budget": [3, 4]}),
    ("beam", "seed", {"seed": [1, 2]}),
    ("vgbs", "highest_value", {"highest_value": np.nan}),
    ("vgbs", "n_best", {"beam": 3, "n_best": 4}),
    ("beam", "beam", {"beam": 0}),
    ("beam", "n_best", {"n_best": 6}),
    ("beam", "normalization", {"normalization": "sqrt"}),
    ("beam", "length_penalty", {"length_penalty": np.nan}),
    ("beam", "length_penalty", {"length_penalty": -1e30}),  # t ** -1e30 is 0
    ("sr", "samples", {"samples": 0}),
    ("sr", "temperature", {"temperature": 0.0}),
    ("sr", "top_k", {"top_k": -1}),
    ("sr", "top_p", {"top_p": 0.0}),
    ("sr", "top_p", {"top_p": 1.1}),
    ("sr", "top_p", {"top_p": np.nan}),
    ("mbr", "top_k", {"top_k": -1}),
    ("mbr", "top_p", {"top_p": 0.0}),
    ("sr", "epsilon", {"epsilon": -0.1}),
    ("sr", "epsilon", {"epsilon": 1.0}),
    ("sr", "rank_by", {"rank_by": "bleu"}),
    ("sr", "metric", {"rank_by": "metric"}),
]


@pytest.mark.parametrize(("search", "name", "options"), BAD_OPTIONS)
def test_bad_options(search: str, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name):
        call(search=search, **options)


@pytest.mark.parametrize(
    ("search", "name", "options"),
    [
        ("mcts", "simulation", {"simulation": 3}),
        ("mcts", "samples", {"samples": 3}),
        ("mcts", "alpha", {"alpha": 0.5}),
        ("vgbs", "c_puct", {"c_puct": 1.0}),
        ("vgbs", "metric", METRIC),
        ("beam", "simulations", {"simulations": 3}),
        ("beam", "temperature", {"temperature": 0.9}),
        ("beam", "top_k", {"top_k": 3}),
        ("sr", "beam", {"beam": 3}),
        ("sr", "backup", {"backup": "max"}),
    ],
)
def test_unknown_options(search: str, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=name) as error:
        call(search=search, **options)
    assert search in str(error.value)


@pytest.mark.parametrize("search", ["vgbs", "beam", "sr"])
def test_only_mcts_has_a_trace(search: str) -> None:
    with pytest.raises(ValueError, match="trace"):
        call(search=search, trace=True)
