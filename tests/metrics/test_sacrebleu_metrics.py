"""BLEU and chrF give sacrebleu's own numbers, sentence by sentence and for a corpus."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.bleu import Bleu

ODD_TEXTS = ["", " ", "😀 🎉", "שלום עולם", "\x00\x07\x1b[31m", "word " * 2000, "\u2028", "."]


def spoil(texts: list[str], seed: int) -> list[str]:
    """A plausible system output: some words of each text dropped, doubled or exchanged."""
    rng = random.Random(seed)
    outputs = []
    for text in texts:
        words = text.split()
        for _ in range(rng.randrange(4)):
            place = rng.randrange(len(words))
            words[place : place + 1] = rng.choice([[], [words[place]] * 2, ["etwas"]]) or words[:1]
        outputs.append(" ".join(words))
    return outputs


def sacrebleu_command(tmp_path: Path, outputs: list[str], references: list[str]) -> dict[str, dict]:
    """What the command line prints, by metric."""
    system, reference = tmp_path / "system.txt", tmp_path / "reference.txt"
    system.write_text("\n".join(outputs) + "\n", encoding="utf-8")
    reference.write_text("\n".join(references) + "\n", encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "sacrebleu", str(reference), "-i", str(system)),
            *("-m", "bleu", "chrf", "-w", "10"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return {entry["name"]: entry for entry in json.loads(run.stdout)}


def check_against_command(tmp_path: Path, outputs: list[str], references: list[str]) -> None:
    printed = sacrebleu_command(tmp_path, outputs, references)
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF2")):
        metric = build_metric(name)
        score = metric.corpus_score(outputs, references) * metric.report_factor
        assert score == pytest.approx(printed[label]["score"], abs=1e-9)
        assert metric.signature() == printed[label]["signature"]
        assert 0 < score < 100


def test_corpus_scores_equal_the_command_line(tmp_path: Path, toy_pairs) -> None:
    references = toy_pairs.targets[:300]
    check_against_command(tmp_path, spoil(references, seed=1), references)


def test_corpus_scores_equal_the_command_line_on_real_text(
    tmp_path: Path, multi30k: Callable[[str], list[str]]
) -> None:
    references = multi30k("de")
    check_against_command(tmp_path, spoil(references, seed=2), references)


@pytest.mark.parametrize("options", ["", ":lowercase=yes,tokenize=intl,smooth_method=add-k"])
def test_sentence_bleu_equals_sacrebleu(toy_pairs, options: str) -> None:
    references = toy_pairs.targets[:200]
    outputs = spoil(references, seed=3)
    if options:
        theirs = BLEU(
            lowercase=True, tokenize="intl", smooth_method="add-k", effective_order=True
        ).sentence_score
        expected = [theirs(o, [r]).score for o, r in zip(outputs, references, strict=True)]
    else:
        expected = [
            sacrebleu.sentence_bleu(o, [r]).score for o, r in zip(outputs, references, strict=True)
        ]
    scores = build_metric(f"bleu{options}").score(outputs, references)
    assert scores == pytest.approx([score / 100 for score in expected], abs=1e-12)


def test_sentence_signature_states_smoothing_and_order() -> None:
    metric = build_metric("bleu")
    assert isinstance(metric, Bleu)
    assert "eff:yes|tok:13a|smooth:exp" in metric.sentence_signature()
    assert "eff:no" in metric.signature()


@pytest.mark.parametrize("word_order", [0, 2])
def test_sentence_chrf_equals_sacrebleu(toy_pairs, word_order: int) -> None:
    references = toy_pairs.targets[:200]
    outputs = spoil(references, seed=4)
    theirs = CHRF(word_order=word_order)
    scores = build_metric(f"chrf:word_order={word_order}").score(outputs, references)
    assert scores == pytest.approx(
        [
            theirs.sentence_score(o, [r]).score / 100
            for o, r in zip(outputs, references, strict=True)
        ],
        abs=1e-12,
    )


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_odd_texts_have_scores_in_range(name: str) -> None:
    metric = build_metric(name)
    others = ["Ein ganz normaler Satz.", *ODD_TEXTS]
    pairs = [(a, b) for a in others for b in others]
    scores = metric.score([a for a, _ in pairs], [b for _, b in pairs])
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] == 1.0
    assert 0.0 <= metric.corpus_score(ODD_TEXTS, ODD_TEXTS) <= 1.0
