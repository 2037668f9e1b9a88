"""All pairs of texts at once give what they give one by one."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.base import Group

ODD_TEXTS = [
    "",
    " ",
    "a",
    "ab",
    "😀 🎉",
    "שלום עולם",
    "word " * 50,
    "\u2028",
    ".",
    "aaaa aaaa",
    "A a",
]
SPECS = [
    *("chrf", "chrf:word_order=2", "chrf:lowercase=yes,whitespace=yes,beta=1", "chrf:char_order=2"),
    *("bleu", "bleu:smooth_method=floor", "bleu:smooth_method=add-k", "bleu:smooth_method=none"),
    *("bleu:lowercase=yes,max_ngram_order=2", "bleu:tokenize=char"),
]


def group(hypotheses, others, weights=None):
    weights = np.ones(len(others)) if weights is None else np.asarray(weights, float)
    return Group(hypotheses, others, [0.5] * len(hypotheses), weights / weights.sum())


def one_by_one(metric, one):
    pairs = [(h, o) for h in one.hypotheses for o in one.others]
    scores = metric.score(*(list(side) for side in zip(*pairs, strict=True)))
    return np.reshape(scores, (len(one.hypotheses), len(one.others)))


def random_texts(seed, count):
    rng = random.Random(seed)
    words = ["der", "Hund", "die", "Katze", "läuft", "schläft", "dort", ",", "und", "ein"]
    return [" ".join(rng.choices(words, k=rng.randrange(12))) for _ in range(count)]


@pytest.mark.parametrize("spec", SPECS)
def test_sacrebleus_metrics(spec) -> None:
    metric = build_metric(spec)
    groups = [group(ODD_TEXTS, ODD_TEXTS), group(ODD_TEXTS[:3], ODD_TEXTS[5:])]
    groups += [group(random_texts(seed, 9), random_texts(seed + 100, 5)) for seed in range(20)]
    for found, one in zip(metric.pairwise(groups), groups, strict=True):
        np.testing.assert_allclose(found, one_by_one(metric, one), atol=1e-12, rtol=0)


@pytest.mark.parametrize("spec", ["chrf:word_order=2", "bleu", "bleu:smooth_method=add-k"])
@given(texts=st.lists(st.text("ab c.A", max_size=12), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_any_texts(spec, texts) -> None:
    metric = build_metric(spec)
    one = group(texts, texts[::-1])
    [found] = metric.pairwise([one])
    np.testing.assert_allclose(found, one_by_one(metric, one), atol=1e-12, rtol=0)


@pytest.mark.parametrize("spec", SPECS)
def test_the_mean_of_one_text_is_that_text(spec) -> None:
    metric = build_metric(spec)
    for other in [*ODD_TEXTS, *random_texts(1, 5)]:
        one = group(random_texts(2, 8), [other] * 3)
        [found] = metric.aggregated([one])
        np.testing.assert_allclose(found, one_by_one(metric, one)[:, 0], atol=1e-12, rtol=0)


def test_the_mean_of_several_texts_by_hand() -> None:
    """Characters of one order: "aab" has 2 a and 1 b; the mean of the others 1 a, ½ b, ½ c."""
    metric = build_metric("chrf:char_order=1,beta=1")
    [[found]] = metric.aggregated([group(["aab"], ["ab", "ac"])])
    shared = 1 + 0.5
    precision, recall = shared / 3, shared / 2
    assert found == pytest.approx(2 * precision * recall / (precision + recall))
    [[found]] = metric.aggregated([group(["aab"], ["ab", "ac"], weights=[3, 1])])
    shared = 1 + 0.75
    precision, recall = shared / 3, shared / 2
    assert found == pytest.approx(2 * precision * recall / (precision + recall))


def test_metrics_that_cannot_aggregate_say_so(toy_encoder) -> None:
    metric = build_metric(f"bertscore:model={toy_encoder}")
    assert not metric.aggregates
    with pytest.raises(ValueError, match="bertscore: can't compare with the mean"):
        metric.aggregated([group(["a"], ["b"])])


@pytest.mark.parametrize("name", ["bertscore", "mlbertscore"])
@pytest.mark.parametrize("options", ["", ",clamp=no", ",idf=yes,idf_file={idf}"])
def test_bertscore(name, options, toy_encoder, tmp_path) -> None:
    idf = tmp_path / "idf.txt"
    idf.write_text("\n".join(random_texts(9, 20)), encoding="utf-8")
    metric = build_metric(f"{name}:model={toy_encoder}{options.format(idf=idf)}")
    groups = [group(random_texts(seed, 9), random_texts(seed + 100, 5)) for seed in range(4)]
    groups += [group(ODD_TEXTS, ODD_TEXTS)]
    for found, one in zip(metric.pairwise(groups), groups, strict=True):
        np.testing.assert_allclose(found, one_by_one(metric, one), atol=2e-5, rtol=0)


def test_each_text_is_encoded_once(toy_encoder) -> None:
    metric = build_metric(f"bertscore:model={toy_encoder},cache_mb=0,batch_size=63")
    embedder = metric._pairs.embedder
    before = embedder.encoded_texts
    groups = [group(texts, texts) for texts in (random_texts(seed, 30) for seed in range(5))]
    metric.pairwise(groups)
    distinct = {text for one in groups for text in one.hypotheses}
    assert embedder.encoded_texts - before == len(distinct)


def test_many_texts_are_matched_in_parts(toy_encoder, monkeypatch) -> None:
    from fairseq_mcts.metrics import embedder

    metric = build_metric(f"bertscore:model={toy_encoder}")
    groups = [group(random_texts(seed, 12), random_texts(seed + 9, 7)) for seed in range(6)]
    whole = metric.pairwise(groups)
    monkeypatch.setattr(embedder, "_MAX_SIMILARITIES", 500)
    monkeypatch.setattr(embedder, "_MAX_TEXTS", 30)
    for found, expected in zip(metric.pairwise(groups), whole, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0)
