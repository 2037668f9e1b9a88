"""BERTScore and MLBERTScore give the bert-score package's own numbers, faster."""

import math
import random

import bert_score
import numpy as np
import pytest

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.base import PairMatches
from fairseq_mcts.metrics.checks import check_matches

TOLERANCE = 1e-5
ODD_TEXTS = [
    "",
    "   ",
    "\n\t",
    "😀 🎉 👩‍👩‍👧",
    "שלום עולם",
    "مرحبا بالعالم",
    "\x00\x07\x1b[31m red \x7f",
    "[CLS] [SEP] [MASK] [PAD]",
    "[SEP]",
    "\u200b\ufeff\u202e",
    "Hund " * 2000,
    "x" * 3000,
]


def packages_scores(hypotheses, others, model, **options):
    """What bert_score.score says, as rows of precision, recall, F1."""
    columns = bert_score.score(hypotheses, others, model_type=str(model), **options)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def own_scores(metric, hypotheses, others):
    return [list(row) for row in metric.precision_recall_f1(hypotheses, others)]


def assert_same(ours, theirs) -> None:
    assert len(ours) == len(theirs)
    worst = max(
        abs(a - b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)
    )
    assert worst < TOLERANCE


def one_word_wrong(texts, seed):
    rng = random.Random(seed)
    vocabulary = [word for text in texts for word in text.split()]
    outputs = []
    for text in texts:
        words = text.split()
        place = rng.randrange(len(words))
        right = words[place]
        while words[place] == right:
            words[place] = rng.choice(vocabulary)
        outputs.append(" ".join(words))
    return outputs


@pytest.mark.parametrize("name", ["bertscore", "mlbertscore"])
@pytest.mark.parametrize("layer", [2, 3])
def test_equal_to_the_package(toy_encoder, toy_pairs, name, layer) -> None:
    hypotheses, others = toy_pairs.targets[:300], toy_pairs.sources[:300]
    metric = build_metric(name, {"model": str(toy_encoder), "layer": layer})
    theirs = packages_scores(hypotheses, others, toy_encoder, num_layers=layer)
    assert_same(own_scores(metric, hypotheses, others), theirs)
    assert metric.score(hypotheses, others) == pytest.approx([t[2] for t in theirs], abs=TOLERANCE)
    assert metric.corpus_score(hypotheses, others) == pytest.approx(
        sum(t[2] for t in theirs) / len(theirs), abs=TOLERANCE
    )


def test_equal_to_the_package_with_idf(toy_encoder, toy_pairs) -> None:
    hypotheses, others = toy_pairs.targets[:300], toy_pairs.sources[:300]
    theirs = packages_scores(hypotheses, others, toy_encoder, num_layers=3, idf=True, nthreads=0)
    metric = build_metric("mlbertscore:idf=yes", {"model": str(toy_encoder)})
    with pytest.raises(ValueError, match="give idf_file=PATH or call fit_idf"):
        metric.score(hypotheses, others)
    # A corpus brings its own counts along, as with the package's `score`.
    assert metric.corpus_score(hypotheses, others) == pytest.approx(
        sum(t[2] for t in theirs) / len(theirs), abs=TOLERANCE
    )
    assert_same(own_scores(metric, hypotheses, others), theirs)
    assert "idf:sources[300]" in metric.signature()


def test_idf_from_a_file_and_counted_anew(toy_encoder, toy_pairs, tmp_path) -> None:
    hypotheses, others = toy_pairs.targets[:40], toy_pairs.sources[:40]
    file = tmp_path / "frequencies.txt"
    file.write_text("\n".join(others) + "\n", encoding="utf-8")
    metric = build_metric(f"bertscore:idf=yes,idf_file={file}", {"model": str(toy_encoder)})
    theirs = packages_scores(hypotheses, others, toy_encoder, num_layers=3, idf=True, nthreads=0)
    assert_same(own_scores(metric, hypotheses, others), theirs)
    before = metric.score(hypotheses, others)
    metric.fit_idf(toy_pairs.sources)  # remembered scores of the old weights must not survive
    assert metric.score(hypotheses, others) != before


def test_equal_to_the_package_with_rescaling(toy_encoder, toy_pairs, tmp_path) -> None:
    table = tmp_path / "baseline.tsv"
    rows = ["LAYER,P,R,F", "0,0.1,0.2,0.3", "1,0.2,0.3,0.35", "2,0.3,0.31,0.32", "3,.4,.41,.42"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    hypotheses, others = toy_pairs.targets[:100], toy_pairs.sources[:100]
    theirs = packages_scores(
        hypotheses,
        others,
        toy_encoder,
        num_layers=3,
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(table),
    )
    options = {"model": str(toy_encoder), "baseline_file": str(table), "clamp": False}
    metric = build_metric("bertscore:rescale=yes", options)
    assert_same(own_scores(metric, hypotheses, others), theirs)
    clamped = build_metric("bertscore:rescale=yes,clamp=yes", options)
    assert clamped.range == (0.0, 1.0)
    assert clamped.score(hypotheses, others) == pytest.approx(
        [min(max(row[2], 0.0), 1.0) for row in theirs], abs=TOLERANCE
    )


def test_packages_own_baselines_are_found(toy_encoder, tmp_path) -> None:
    folder = tmp_path / "bert-base-multilingual-cased"
    folder.symlink_to(toy_encoder)
    metric = build_metric("bertscore:rescale=yes,lang=en,layer=3", {"model": str(folder)})
    assert metric.score(["der Hund"], ["der Hund"]) == [pytest.approx(1.0, abs=1e-6)]
    with pytest.raises(FileNotFoundError, match=r"looked for .*toy-encoder\.tsv"):
        build_metric("bertscore:rescale=yes,lang=en", {"model": str(toy_encoder)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rescale=yes", "rescale=yes needs lang=XX"),
        ("idf_file=x", "idf_file is given but idf is off"),
        ("baseline_file=x", "baseline_file is given but rescale is off"),
        ("batch_size=0", "batch_size=0 must be positive"),
    ],
)
def test_contradictory_options_are_refused(toy_encoder, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        build_metric(f"bertscore:{options}", {"model": str(toy_encoder)})


def test_scores_depend_neither_on_batch_nor_on_order(toy_encoder, toy_pairs) -> None:
    hypotheses = [*toy_pairs.targets[:60], *ODD_TEXTS]
    others = [*toy_pairs.sources[1:61], *toy_pairs.sources[: len(ODD_TEXTS)]]
    whole = build_metric("mlbertscore", {"model": str(toy_encoder)}).score(hypotheses, others)
    single = build_metric("mlbertscore", {"model": str(toy_encoder), "batch_size": 1})
    alone = [single.score([h], [o])[0] for h, o in zip(hypotheses, others, strict=True)]
    assert whole == pytest.approx(alone, abs=1e-6)
    again = build_metric("mlbertscore", {"model": str(toy_encoder), "batch_size": 7})
    backwards = again.score(hypotheses[::-1], others[::-1])[::-1]
    assert whole == pytest.approx(backwards, abs=1e-6)


@pytest.mark.parametrize("name", ["bertscore", "mlbertscore"])
@pytest.mark.parametrize("idf", ["no", "yes"])
def test_odd_texts_have_scores_in_range(toy_encoder, name, idf) -> None:
    texts = ["der Hund sieht das Buch.", *ODD_TEXTS]
    pairs = [(a, b) for a in texts for b in texts]
    metric = build_metric(f"{name}:idf={idf}", {"model": str(toy_encoder)})
    if idf == "yes":
        metric.fit_idf(texts)
    scores = metric.score([a for a, _ in pairs], [b for _, b in pairs])
    assert all(0.0 <= score <= 1.0 and math.isfinite(score) for score in scores)
    by_pair = dict(zip(pairs, scores, strict=True))
    assert by_pair[("", texts[0])] == by_pair[(texts[0], "")] == by_pair[("", "")] == 0.0


def test_odd_texts_equal_the_package_pair_by_pair(toy_encoder) -> None:
    metric = build_metric("bertscore:clamp=no", {"model": str(toy_encoder)})
    scorer = bert_score.BERTScorer(model_type=str(toy_encoder), num_layers=3)
    for text in ODD_TEXTS:
        theirs = [column.item() for column in scorer.score([text], ["der Hund sieht das Buch."])]
        ours = metric.precision_recall_f1([text], ["der Hund sieht das Buch."])[0]
        assert list(ours)[2] == pytest.approx(theirs[2], abs=TOLERANCE)


def test_both_metrics_share_one_encoder_and_name_it_as_judge(toy_encoder) -> None:
    options = {"model": str(toy_encoder)}
    first, second = build_metric("bertscore", options), build_metric("mlbertscore", options)
    assert first._pairs.embedder is second._pairs.embedder
    assert first.judge == second.judge
    assert "against:reference" in first.signature() and "against:source" in second.signature()


# Real text and a real encoder ---------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "fr"])
def test_real_pairs_equal_the_package(shared_encoder, multi30k, language) -> None:
    hypotheses, others = multi30k(language)[:200], multi30k("en")[:200]
    metric = build_metric("mlbertscore", {"model": str(shared_encoder)})
    assert metric.layer == 3
    theirs = packages_scores(hypotheses, others, shared_encoder, num_layers=3)
    assert_same(own_scores(metric, hypotheses, others), theirs)


def test_real_pairs_with_idf_equal_the_package(shared_encoder, multi30k) -> None:
    references = multi30k("de")[:100]
    hypotheses = one_word_wrong(references, seed=5)
    metric = build_metric("bertscore:idf=yes", {"model": str(shared_encoder)})
    metric.fit_idf(references)
    theirs = packages_scores(
        hypotheses, references, shared_encoder, num_layers=3, idf=True, nthreads=0
    )
    assert_same(own_scores(metric, hypotheses, references), theirs)


def test_unrelated_pairs_equal_the_package_pair_by_pair(shared_encoder, multi30k) -> None:
    """Alone: in a batch, bert-score lets padding take part in the matching of unrelated words."""
    hypotheses, others = multi30k("de")[1:41], multi30k("en")[:40]
    scorer = bert_score.BERTScorer(model_type=str(shared_encoder), num_layers=3)
    theirs = [
        [column.item() for column in scorer.score([h], [o])]
        for h, o in zip(hypotheses, others, strict=True)
    ]
    raw = build_metric("mlbertscore:clamp=no", {"model": str(shared_encoder)})
    assert_same(own_scores(raw, hypotheses, others), theirs)
    clamped = build_metric("mlbertscore", {"model": str(shared_encoder)})
    for ours, (precision, recall, f1) in zip(
        own_scores(clamped, hypotheses, others), theirs, strict=True
    ):
        if min(precision, recall) >= 0:
            assert ours == pytest.approx([precision, recall, f1], abs=TOLERANCE)
        else:
            assert ours[2] == 0.0


def test_real_encoder_scores_odd_texts_in_range(shared_encoder) -> None:
    texts = ["Ein Hund läuft.", *ODD_TEXTS]
    pairs = [(text, texts[0]) for text in texts] + [(texts[0], text) for text in texts]
    metric = build_metric("mlbertscore", {"model": str(shared_encoder)})
    scores = metric.score([a for a, _ in pairs], [b for _, b in pairs])
    assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.slow
def test_references_far_above_shuffled_and_above_one_word_wrong(shared_encoder, multi30k) -> None:
    sources, references = multi30k("en")[:400], multi30k("de")[:400]
    metric = build_metric("mlbertscore", {"model": str(shared_encoder)})
    right = metric.score(references, sources)
    shuffled = metric.score(references[1:] + references[:1], sources)
    wrong = metric.score(one_word_wrong(references, seed=3), sources)
    count = len(sources)
    wins = sum(a > b for a, b in zip(right, wrong, strict=True)) / count
    figures = [sum(scores) / count for scores in (right, shuffled, wrong)]
    print(f"reference, shuffled, one word wrong: {figures}; reference wins: {wins:.1%}")
    assert figures[0] == pytest.approx(0.80, abs=0.02)
    assert figures[1] == pytest.approx(0.14, abs=0.02)
    assert wins > 0.85


@pytest.mark.parametrize("options", ["", ":idf=yes", ":clamp=no"])
def test_matches_are_what_precision_and_recall_are_means_of(
    toy_encoder, toy_pairs, options
) -> None:
    hypotheses, others = toy_pairs.targets[:40], toy_pairs.sources[:40]
    plain = build_metric("mlbertscore", {"model": str(toy_encoder)})
    metric = build_metric(f"mlbertscore{options}", {"model": str(toy_encoder)})
    assert metric.matches_tokens
    pairs = zip(
        metric.token_matches(hypotheses, others),
        metric._pairs.similarities(hypotheses, others),
        plain.precision_recall_f1(hypotheses, others),
        strict=True,
    )
    for matches, all_tokens, (precision, recall, _) in pairs:
        np.testing.assert_allclose(matches.similarities, all_tokens[1:-1, 1:-1], atol=TOLERANCE)
        # a token may also match best the symbol that opens or closes the other text
        assert all_tokens[1:-1].max(axis=1).mean() == pytest.approx(precision, abs=TOLERANCE)
        assert all_tokens[:, 1:-1].max(axis=0).mean() == pytest.approx(recall, abs=TOLERANCE)


def test_pieces_of_matches_are_parts_of_their_texts(toy_encoder, toy_pairs) -> None:
    metric = build_metric("mlbertscore", {"model": str(toy_encoder)})
    texts = [f"  {text}\n" for text in toy_pairs.targets[:20]]
    for text, matches in zip(texts, metric.token_matches(texts, texts), strict=True):
        for spans in (matches.hypothesis_spans, matches.other_spans):
            found = [text[begin:end] for begin, end in spans]
            assert "".join(found) == "".join(text.split())
        np.testing.assert_allclose(np.diag(matches.similarities), 1.0, atol=TOLERANCE)
    odd = metric.token_matches(ODD_TEXTS, ODD_TEXTS[::-1])
    check_matches(metric, odd, ODD_TEXTS, ODD_TEXTS[::-1])
    assert odd[0].similarities.size == 0


def test_matches_that_are_expected_cost_nothing_more(toy_encoder, toy_pairs) -> None:
    hypotheses, others = toy_pairs.targets[:20], toy_pairs.sources[:20]
    metric = build_metric("mlbertscore", {"model": str(toy_encoder)})
    expected = metric.token_matches(hypotheses, others)
    metric.expect_matches()
    metric.score(hypotheses, others)
    before = metric._pairs.embedder.encoded_texts
    found = metric.token_matches(hypotheses, others)
    assert metric._pairs.embedder.encoded_texts == before
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.similarities, other.similarities, atol=TOLERANCE)
        for ours, theirs in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_metrics_without_matches_say_so() -> None:
    with pytest.raises(ValueError, match="chrf: can't say which tokens match"):
        build_metric("chrf").token_matches(["a"], ["a"])


@pytest.mark.parametrize(
    ("similarities", "spans"),
    [
        ([[0.5]], [[0, 4]]),
        ([[0.5]], [[-1, 1]]),
        ([[0.5]], [[2, 1]]),
        ([[math.nan]], [[0, 1]]),
        ([[0.5, 0.5]], [[0, 1]]),
    ],
)
def test_matches_of_no_text_are_refused(similarities, spans) -> None:
    span = np.array([[0, 1]])
    right = PairMatches(np.array([[0.5]]), span, span)
    wrong = PairMatches(np.array(similarities), span, np.array(spans))
    metric = build_metric("chrf")
    check_matches(metric, [right], ["abc"], ["abc"])
    with pytest.raises(ValueError, match="metric chrf: matches that are none of 'abc'"):
        check_matches(metric, [wrong], ["abc"], ["abc"])
    with pytest.raises(ValueError, match="metric chrf: matches of 0 pairs for 1"):
        check_matches(metric, [], ["abc"], ["abc"])
