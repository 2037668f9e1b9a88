"""Scores of translations and of values."""

from pathlib import Path

import pytest

import examples.custom_metric.length_ratio  # noqa: F401 - registers the metric
from examples.common.cost import Cost
from examples.demo.decoders import Decoder
from examples.demo.results import HeldOut, score, table, value_quality
from fairseq_mcts.metrics import build_metric


def test_scores_of_perfect_and_of_partly_wrong_translations() -> None:
    references = ["Der Hund schläft heute im Garten.", "Sie hat ein Buch gelesen."]
    held_out = HeldOut(["in the garden", "a book"], references)
    cost = Cost(seconds=1.0, charged=8.0, made=2.0)
    ratio = build_metric("length_ratio")
    perfect = score(Decoder("a", ()), references, held_out, ratio, cost)
    partly = score(
        Decoder("b", ()), [references[0], "Sie hat ein Heft gekauft."], held_out, ratio, cost
    )

    assert (round(perfect.bleu, 6), round(perfect.chrf, 6), perfect.exact) == (100, 100, 1)
    assert 20 < partly.bleu < 90
    assert partly.exact == 0.5
    assert partly.metric == ratio.corpus_score(references, held_out.sources)
    shown = f"a likelihood 100.00 100.00 {perfect.metric:.4f} 100.0% 8.0 2.0 1.0"
    assert table([perfect, partly]).splitlines()[2].split() == shown.split()


def test_a_lost_line_is_an_error() -> None:
    held_out = HeldOut(["a", "b"], ["a", "b"])
    with pytest.raises(ValueError, match="beam: 1 translations for 2 references"):
        score(
            Decoder("beam", ()), ["a"], held_out, build_metric("length_ratio"), Cost(1.0, 1.0, 1.0)
        )


def test_value_quality_is_that_of_the_last_validation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = '| INFO | valid | {{"epoch": {}, "valid_loss": "3", "valid_value_mae": "{}", '
    line += '"valid_value_mae_finished": "0.9", "valid_value_mae_of_mean": "0.2", '
    line += '"valid_value_pearson": "0.5", "valid_value_pearson_finished": "-0.25"}}\n'
    log.write_text(line.format(1, 0.3) + line.format(2, 0.125))
    shown = value_quality(log)
    assert "error 0.1250 (of always saying the mean score: 0.2000)" in shown
    assert "correlation 0.50, of finished samples -0.25" in shown
