"""Several metrics at once, the policy's likelihood among them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tests.generators.vowels  # noqa: F401 - registers a metric that compares with the source
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.checks import BadComparisonError, BadScoreError
from fairseq_mcts.search import decode
from tests.metrics.test_pairwise import group, random_texts
from tests.search.toy_models import ToyEvaluator, ToyModel

HYPOTHESES, OTHERS = random_texts(1, 20), random_texts(2, 20)
LIKELIHOODS = [0.05 * (1 + place) for place in range(20)]
few = settings(max_examples=500, deadline=None, derandomize=True, database=None)


@given(weights=st.tuples(st.floats(0.01, 9), st.floats(0.01, 9)))
@few
def test_a_sum_is_the_weighted_mean(weights) -> None:
    first, second = weights
    metric = build_metric(f"mix:chrf={first!r},bleu={second!r}")
    parts = [build_metric(name).score(HYPOTHESES, OTHERS) for name in ("chrf", "bleu")]
    expected = [(first * a + second * b) / (first + second) for a, b in zip(*parts, strict=True)]
    assert metric.score(HYPOTHESES, OTHERS) == pytest.approx(expected, abs=1e-12)
    assert metric.score(["the same"], ["the same"]) == [pytest.approx(1.0)]
    assert metric.range == (0.0, 1.0)
    assert metric.score(["the same"], ["the same"])[0] <= 1.0


@given(weights=st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)))
@few
def test_a_minimum_is_that_of_the_weighted_parts(weights) -> None:
    first, second = weights
    metric = build_metric(f"mix:chrf={first!r},bleu={second!r},combine=min")
    parts = [build_metric(name).score(HYPOTHESES, OTHERS) for name in ("chrf", "bleu")]
    expected = [min(first * a, second * b) for a, b in zip(*parts, strict=True)]
    assert metric.score(HYPOTHESES, OTHERS) == pytest.approx(expected, abs=1e-12)
    assert metric.range == (0.0, min(first, second))


@pytest.mark.parametrize("combine", ["sum", "min"])
def test_likelihood_is_a_part_where_it_is_known(combine) -> None:
    spec = f"mix:vowels=0.7,likelihood=0.3,combine={combine}"
    metric = build_metric(spec, with_likelihood=True)
    assert metric.reads_likelihood
    assert not metric.privileged
    found = metric.score_likely(HYPOTHESES, OTHERS, LIKELIHOODS)
    vowels = build_metric("vowels").score(HYPOTHESES, OTHERS)
    pairs = [(0.7 * a, 0.3 * b) for a, b in zip(vowels, LIKELIHOODS, strict=True)]
    assert found == pytest.approx([sum(one) if combine == "sum" else min(one) for one in pairs])
    with pytest.raises(ValueError, match=r"^likelihood: can't be told from a text"):
        metric.score(HYPOTHESES, OTHERS)
    with pytest.raises(ValueError, match=f"^metric '{spec}': reads the policy's likelihood"):
        build_metric(spec)
    with pytest.raises(ValueError, match=r"^metric 'likelihood': reads the policy's likelihood"):
        build_metric("likelihood")


@pytest.mark.parametrize("combine", ["sum", "min"])
def test_all_pairs_and_means_of_texts(combine) -> None:
    spec = f"mix:chrf=0.5,bleu=0.2,likelihood=0.3,combine={combine}"
    metric = build_metric(spec, with_likelihood=True)
    assert metric.privileged
    assert metric.aggregates
    one = group(HYPOTHESES[:6], OTHERS[:4])._replace(likelihoods=LIKELIHOODS[:6])
    [pairs] = metric.pairwise([one])
    [means] = metric.aggregated([one._replace(others=OTHERS[:1], weights=np.ones(1))])
    for row in range(6):
        for column in range(4):
            texts = ([HYPOTHESES[row]], [OTHERS[column]], [LIKELIHOODS[row]])
            assert metric.score_likely(*texts) == pytest.approx([pairs[row, column]], abs=1e-12)
    assert means == pytest.approx(pairs[:, 0], abs=1e-12)


def test_options_of_parts(toy_encoder) -> None:
    spec = f"mix:mlbertscore=0.5,mlbertscore.model={toy_encoder},mlbertscore.layer=2,vowels=0.5"
    metric = build_metric(spec)
    assert metric.parts["mlbertscore"].layer == 2
    alone = build_metric(f"mlbertscore:model={toy_encoder},layer=2").score(HYPOTHESES, OTHERS)
    vowels = build_metric("vowels").score(HYPOTHESES, OTHERS)
    expected = [(a + b) / 2 for a, b in zip(alone, vowels, strict=True)]
    assert metric.score(HYPOTHESES, OTHERS) == pytest.approx(expected, abs=1e-6)
    assert "0.5*mlbertscore(against:source" in metric.signature()
    assert metric.signature() != build_metric(spec.replace("vowels=0.5", "vowels=0.6")).signature()


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("mix", "mix: names no metrics"),
        ("mix:combine=min", "mix: names no metrics"),
        ("mix:taste=1", "unknown metric 'taste'"),
        ("mix:bleu=much", "mix: bleu='much': expected its weight"),
        ("mix:bleu=0", "mix: bleu=0: the weight must be greater than 0"),
        ("mix:bleu=-1,chrf=1", "mix: bleu=-1: the weight must be greater than 0"),
        ("mix:bleu=nan", "mix: bleu=nan: the weight must be"),
        ("mix:bleu=1,combine=max", "mix: combine='max' must be sum or min"),
        ("mix:bleu=1,chrf.beta=1", "mix: options of 'chrf' are given, but no weight chrf="),
        ("mix:bleu=1,bleu.taste=1", "metric 'bleu' has no option 'taste'"),
        ("mix:mix=1", "mix: can't be a part of itself"),
        ("mix:bleu=1,vowels=1", "mix: all parts must compare with the same text, not bleu with"),
    ],
)
def test_refusals(spec, complaint) -> None:
    with pytest.raises(ValueError, match=complaint):
        build_metric(spec)


def test_a_part_outside_its_range_is_not_hidden_by_the_others() -> None:
    """Of weight 0.01 it would still leave the mean within [0, 1]."""
    spec = "mix:vowels=0.01,vowels.scale=9,likelihood=0.99"
    metric = build_metric(spec, with_likelihood=True)
    texts = (["the same"], ["the same"])
    with pytest.raises(BadScoreError, match=r"^metric vowels: the score 9\.0 is no number in"):
        metric.score_likely(*texts, [0.1])
    with pytest.raises(BadComparisonError, match=r"^metric vowels: gives 9\.0 for a pair, no"):
        metric.pairwise([group(*texts)])


@pytest.mark.parametrize("count", [1, 3])
def test_a_part_with_another_number_of_scores_is_named(count, monkeypatch) -> None:
    """One alone would be taken for the score of all texts."""
    metric = build_metric("mix:bleu=0.5,chrf=0.5")
    monkeypatch.setattr(metric.parts["chrf"], "score", lambda *texts: [0.5] * count)
    with pytest.raises(ValueError, match=f"^metric chrf: {count} scores for 2 hypotheses"):
        metric.score(["a", "b"], ["a", "b"])


class WithLikelihood:
    """Counts words, and reads how likely a sentence is."""

    batched = True
    reads_logprob = True

    def __call__(self, sentences, tokens, logprobs):
        return [
            0.5 * math.exp(logprob / len(one)) + 0.05 * len(one)
            for one, logprob in zip(tokens, logprobs, strict=True)
        ]


@pytest.mark.parametrize(
    "options",
    [
        {"search": "sr", "samples": 9, "rank_by": "metric", "n_best": 9},
        {"search": "mcts", "simulations": 15, "leaf": "rollout", "n_best": 9},
        {"search": "mcts", "simulations": 15, "terminal": "metric", "n_best": 9},
    ],
)
def test_searches_tell_the_metric_how_likely_a_sentence_is(options) -> None:
    model = ToyModel(vocab=6, eos=2, seed=8, policy="flat")
    evaluate = ToyEvaluator(model, 2, range(5))
    results = decode(evaluate, 5, eos=2, max_len=6, metric=WithLikelihood(), **options)
    for one in (one for several in results for one in several):
        worth = 0.5 * math.exp(one.logprob / len(one.tokens)) + 0.05 * len(one.tokens)
        assert one.value == pytest.approx(worth, abs=1e-12)
