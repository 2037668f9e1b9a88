"""Small problems whose every sentence can be listed: with enough budget a search finds the best."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import decode
from tests.search.toy_models import Prefix, ToyEvaluator, ToyMetric, ToyModel, mix

EOS = 0
SEEDS = range(8)


def all_sentences(vocab: int, max_len: int) -> list[Prefix]:
    words = [token for token in range(vocab) if token != EOS]
    return [
        (*tokens, EOS)
        for length in range(max_len + 1)
        for tokens in itertools.product(words, repeat=length)
    ]


class PerfectModel:
    """The value of a prefix is the best metric that can still be reached from it."""

    def __init__(self, model: ToyModel, metric: ToyMetric, max_len: int) -> None:
        self.model = model
        self.best: dict[Prefix, float] = {}
        for tokens in all_sentences(model.vocab, max_len):
            score = metric.score(0, tokens)
            for length in range(len(tokens) + 1):
                prefix = tokens[:length]
                self.best[prefix] = max(score, self.best.get(prefix, -math.inf))

    def __call__(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        return self.model(0, prefix)[0], self.best[prefix]


class OneStandsOut(ToyMetric):
    """One sentence scores 1, all others less than a half."""

    def __init__(self, seed: int, best: Prefix) -> None:
        super().__init__(seed)
        object.__setattr__(self, "best", best)

    def score(self, sentence: int, tokens: Prefix) -> float:
        return 1.0 if tokens == self.best else super().score(sentence, tokens) / 2


def decode_one(model: Any, max_len: int, **options: Any) -> list[Any]:
    evaluate = ToyEvaluator(model, EOS, [0])
    return decode(evaluate, 1, eos=EOS, max_len=max_len, **options)[0]


def toy(seed: int, vocab: int = 4, policy: str = "flat", values: str = "random") -> ToyModel:
    return ToyModel(vocab=vocab, eos=EOS, seed=seed, policy=policy, values=values)


# ---- MCTS ----


@pytest.mark.parametrize("policy", ["flat", "uniform", "levels"])
@pytest.mark.parametrize("choose", ["visits", "value"])
@pytest.mark.parametrize("backup", ["mean", "max"])
def test_mcts_with_a_perfect_value_finds_the_best_sentence(
    backup: str, choose: str, policy: str
) -> None:
    sentences = all_sentences(vocab=4, max_len=3)
    for seed in SEEDS:
        # The mean of a subtree and the number of visits tell sentences apart by how much they
        # differ: here the best stands out. The next test does without.
        metric = OneStandsOut(seed, best=sentences[mix(seed) % len(sentences)])
        model = PerfectModel(toy(seed, policy=policy), metric, max_len=3)
        found = decode_one(
            model, 3, search="mcts", simulations=15000, c_puct=3.0, backup=backup, choose=choose
        )
        assert found[0].tokens == metric.best
        assert found[0].value == 1.0


@pytest.mark.parametrize("policy", ["flat", "uniform", "levels"])
@pytest.mark.parametrize("below_root", ["puct", "improved"])
def test_a_gumbel_root_with_a_perfect_value_finds_the_best_sentence(
    below_root: str, policy: str
) -> None:
    sentences = all_sentences(vocab=4, max_len=3)
    for seed in SEEDS:
        metric = OneStandsOut(seed, best=sentences[mix(seed) % len(sentences)])
        model = PerfectModel(toy(seed, policy=policy), metric, max_len=3)
        rules = {"root": "gumbel", "below_root": below_root, "backup": "max"}
        # a perfect value may be trusted
        found = decode_one(model, 3, search="mcts", simulations=50, c_scale=0.1, **rules)
        assert found[0].tokens == metric.best


@pytest.mark.parametrize("policy", ["flat", "uniform", "levels"])
@pytest.mark.parametrize(
    ("backup", "simulations", "c_puct"), [("max", 1000, 3.0), ("bellman", 5000, 100.0)]
)
def test_the_best_below_and_choice_by_value_find_the_best_by_however_little(
    backup: str, simulations: int, c_puct: float, policy: str
) -> None:
    """By the greatest of the children it has to have seen the best sentence: a value that knows
    of it is forgotten when others below are seen first."""
    options = {"simulations": simulations, "c_puct": c_puct, "backup": backup}
    for seed in range(25):
        metric = ToyMetric(seed)
        model = PerfectModel(toy(seed, policy=policy), metric, max_len=3)
        found = decode_one(model, 3, search="mcts", choose="value", **options)
        assert metric.score(0, found[0].tokens) == found[0].value == model.best[()]


def test_mcts_with_rollouts_that_see_every_sentence_finds_the_best() -> None:
    sentences = all_sentences(vocab=3, max_len=3)
    for seed in SEEDS:
        metric = ToyMetric(seed)
        found = decode_one(
            toy(seed, vocab=3),
            3,
            search="mcts",
            simulations=1500,
            c_puct=20.0,
            leaf="rollout",
            metric=metric.score,
            backup="max",
            choose="value",
            n_best=len(sentences),
        )
        assert {h.tokens for h in found} == set(sentences)
        scores = [metric.score(0, h.tokens) for h in found]
        assert scores == sorted((metric.score(0, s) for s in sentences), reverse=True)


def test_mcts_with_the_metric_at_the_end_needs_no_good_value() -> None:
    """The value says nothing; the metric of the finished sentences alone leads the search."""
    sentences = all_sentences(vocab=3, max_len=3)
    for seed in SEEDS:
        metric = ToyMetric(seed)
        found = decode_one(
            toy(seed, vocab=3, values="zero"),
            3,
            search="mcts",
            simulations=1500,
            c_puct=20.0,
            terminal="metric",
            metric=metric.score,
            backup="max",
            choose="value",
        )
        assert found[0].value == max(metric.score(0, s) for s in sentences)


# ---- sampling and reranking ----


@pytest.mark.parametrize("rank_by", ["metric", "value"])
def test_sr_with_every_sentence_sampled_is_exhaustive_search(rank_by: str) -> None:
    sentences = all_sentences(vocab=3, max_len=2)
    for seed in SEEDS:
        model, metric = toy(seed, vocab=3), ToyMetric(seed)
        options = {"metric": metric.score} if rank_by == "metric" else {}
        found = decode_one(
            model, 2, search="sr", samples=400, n_best=400, seed=seed, rank_by=rank_by, **options
        )
        worth = {
            s: metric.score(0, s) if rank_by == "metric" else model(0, s)[1] for s in sentences
        }
        assert [h.tokens for h in found] == sorted(sentences, key=lambda s: -worth[s])


def test_sr_breaks_equal_scores_by_log_probability() -> None:
    sentences = all_sentences(vocab=3, max_len=2)
    for seed in SEEDS:
        model = toy(seed, vocab=3, values="constant")
        found = decode_one(model, 2, search="sr", samples=400, n_best=400, seed=seed)
        logprob = {
            s: sum(model(0, s[:i])[0][token] for i, token in enumerate(s)) for s in sentences
        }
        assert [h.tokens for h in found] == sorted(sentences, key=lambda s: -logprob[s])


# ---- beams as wide as the problem ----


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_vgbs_with_the_full_beam_is_exhaustive_search(alpha: float) -> None:
    sentences = all_sentences(vocab=4, max_len=3)
    width = len(sentences)
    for seed in SEEDS:
        model, metric = toy(seed), ToyMetric(seed)
        perfect = PerfectModel(model, metric, max_len=3)

        def score(tokens: Prefix, model: ToyModel = model, metric: ToyMetric = metric) -> float:
            total = sum(model(0, tokens[:i])[0][token] for i, token in enumerate(tokens))
            return (1 - alpha) * total / len(tokens) + alpha * metric.score(0, tokens)

        found = decode_one(perfect, 3, search="vgbs", beam=width, alpha=alpha, n_best=width)
        assert [h.tokens for h in found] == sorted(sentences, key=lambda s: -score(s))
        if alpha == 1.0:
            assert found[0].value == perfect.best[()]


@pytest.mark.parametrize("normalization", ["length", "gnmt", "none"])
def test_beam_search_with_the_full_beam_is_exhaustive_search(normalization: str) -> None:
    sentences = all_sentences(vocab=4, max_len=3)
    width = len(sentences)
    divisor = {
        "length": lambda t: t**0.6,
        "gnmt": lambda t: ((5 + t) / 6) ** 0.6,
        "none": lambda t: 1.0,
    }[normalization]
    for seed in SEEDS:
        model = toy(seed)

        def score(tokens: Prefix, model: ToyModel = model) -> float:
            total = sum(model(0, tokens[:i])[0][token] for i, token in enumerate(tokens))
            return total / divisor(len(tokens))

        found = decode_one(
            model,
            3,
            search="beam",
            beam=width,
            n_best=width,
            normalization=normalization,
            length_penalty=0.6,
        )
        assert [h.tokens for h in found] == sorted(sentences, key=lambda s: -score(s))
