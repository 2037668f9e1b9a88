"""Minimum Bayes risk chooses as the package `mbrs` does, fed with the same candidates.

The package is no dependency: these tests are left out where it is not installed.
"""

from typing import Any

import numpy as np
import pytest

from fairseq_mcts.generators.search_metric import SearchUtility
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.search import Hypothesis, decode
from tests.search.toy_models import ToyEvaluator, ToyModel

SENTENCES = 200
SAMPLES = 20
WORDS = ["der", "die", "ein", "Hund", "Katze", "klein", "sieht", "findet", "läuft", "dort", "."]
EOS = 5
# scores of mbrs are float32
CLOSE = 2e-5


class Words:
    """Turns the tokens of a toy model into text."""

    def decode(self, tokens: Any) -> str:
        return " ".join(WORDS[token] for token in tokens if token != EOS)


@pytest.fixture(scope="module")
def mbrs() -> Any:
    pytest.importorskip("mbrs")
    import mbrs.decoders
    import mbrs.metrics

    return mbrs


def theirs_of(mbrs: Any, name: str, encoder: Any) -> Any:
    configs = {
        "chrf": (mbrs.metrics.MetricChrF, {"fastchrf": True}),
        "bleu": (mbrs.metrics.MetricBLEU, {"num_workers": 1}),
        "bertscore": (
            mbrs.metrics.MetricBERTScore,
            {"model_type": str(encoder), "num_layers": 3, "cpu": True},
        ),
    }
    cls, options = configs[name]
    return cls(cls.Config(**options))


def run_ours(spec: str, **options: Any) -> tuple[list[Hypothesis], list[list[Hypothesis]]]:
    """What we choose for each sentence, and all samples that it was chosen from."""
    model = ToyModel(vocab=len(WORDS), eos=EOS, seed=3, policy="peaked")
    common: dict[str, Any] = {"eos": EOS, "max_len": 9, "min_len": 2, "seed": 1}
    common |= {"samples": SAMPLES, "epsilon": 0.02}
    metric = SearchUtility(build_metric(spec), Words(), ())  # type: ignore[arg-type]
    evaluate = ToyEvaluator(model, EOS, range(SENTENCES))
    chosen = decode(evaluate, SENTENCES, search="mbr", metric=metric, **common, **options)
    evaluate = ToyEvaluator(model, EOS, range(SENTENCES))
    drawn = decode(evaluate, SENTENCES, search="sr", rank_by="none", n_best=SAMPLES, **common)
    return [best for [best] in chosen], drawn


def compare(ours: Hypothesis, factor: float, texts: list[str], decoded: Any) -> bool:
    """Whether both chose the same text, with the same score; unequal ones must be equally good."""
    assert ours.score * factor == pytest.approx(decoded.score[0], abs=factor * CLOSE)
    return Words().decode(ours.tokens) == decoded.sentence[0]


@pytest.mark.slow
@pytest.mark.parametrize("references", ["pairwise", "aggregated"])
def test_our_side_needs_no_package(references: str) -> None:
    """So that it does not rot where the other tests are left out."""
    chosen, drawn = run_ours("chrf", references=references)
    for ours, samples in zip(chosen, drawn, strict=True):
        assert ours.tokens in {one.tokens for one in samples}


@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize("name", ["chrf", "bleu", "bertscore"])
@pytest.mark.parametrize("weights", ["count", "probability"])
def test_the_choice(name: str, weights: str, mbrs: Any, toy_encoder: Any) -> None:
    import torch

    spec = f"bertscore:model={toy_encoder},layer=3" if name == "bertscore" else name
    factor = 1.0 if name == "bertscore" else 100.0
    chosen, drawn = run_ours(spec, weights=weights)
    decoder = mbrs.decoders.DecoderMBR(
        mbrs.decoders.DecoderMBR.Config(), theirs_of(mbrs, name, toy_encoder)
    )
    same, several = 0, 0
    for ours, samples in zip(chosen, drawn, strict=True):
        texts = [Words().decode(one.tokens) for one in samples]
        lprobs = None
        if weights == "probability":  # theirs would count repetitions twice
            distinct = {text: one.logprob for text, one in zip(texts, samples, strict=True)}
            texts, lprobs = list(distinct), torch.tensor(list(distinct.values()))
        decoded = decoder.decode(texts, texts, reference_lprobs=lprobs)
        same += compare(ours, factor, texts, decoded)
        several += len(set(texts)) > 2
    assert several > SENTENCES * 0.8, "there must be something to choose from"
    assert same >= SENTENCES - 2, "texts of equal scores may be chosen differently"


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("name", ["chrf", "bleu"])
@pytest.mark.parametrize("weights", ["count", "probability"])
def test_aggregated_references(name: str, weights: str, mbrs: Any) -> None:
    import torch

    chosen, drawn = run_ours(name, references="aggregated", weights=weights)
    metric = theirs_of(mbrs, name, None)
    if name == "chrf":
        metric.cfg.fastchrf = False  # it knows no weights
    decoder = mbrs.decoders.DecoderAggregateMBR(mbrs.decoders.DecoderAggregateMBR.Config(), metric)
    same = 0
    for ours, samples in zip(chosen, drawn, strict=True):
        texts = [Words().decode(one.tokens) for one in samples]
        lprobs = None
        if weights == "probability":
            distinct = {text: one.logprob for text, one in zip(texts, samples, strict=True)}
            texts, lprobs = list(distinct), torch.tensor(list(distinct.values()))
        decoded = decoder.decode(texts, texts, reference_lprobs=lprobs)
        same += compare(ours, 100.0, texts, decoded)
    assert same >= SENTENCES - 2


def test_all_pairs(mbrs: Any, toy_encoder: Any) -> None:
    from tests.metrics.test_pairwise import group, random_texts

    for name in ("chrf", "bleu", "bertscore"):
        spec = f"bertscore:model={toy_encoder},layer=3" if name == "bertscore" else name
        texts = [text for text in random_texts(4, 12) if text]
        [ours] = build_metric(spec).pairwise([group(texts, texts)])
        theirs = theirs_of(mbrs, name, toy_encoder).pairwise_scores(texts, texts).numpy()
        factor = 1.0 if name == "bertscore" else 100.0
        np.testing.assert_allclose(ours * factor, theirs, atol=factor * CLOSE, rtol=0)
