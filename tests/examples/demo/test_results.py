"""Scores of translations and of values."""

from pathlib import Path

import pytest

import examples.custom_metric.length_ratio  # noqa: F401 - registers the metric
from examples.common.cost import Cost
from examples.demo import results
from examples.demo.decoders import Decoder
from examples.demo.results import HeldOut, Judge, table, value_quality
from fairseq_mcts.metrics import Metric, build_metric

REFERENCES = ["Der Hund schläft heute im Garten.", "Sie hat ein Buch gelesen."]
COST = Cost(seconds=1.0, charged=8.0, made=2.0)


def make_judge(beam: list[str] | None) -> tuple[Judge, dict[str, Metric]]:
    metrics = {"BLEU": build_metric("bleu"), "ratio": build_metric("length_ratio")}
    return Judge(metrics, HeldOut(["in the garden", "a book"], REFERENCES), beam), metrics


def test_scores_of_perfect_and_of_partly_wrong_translations() -> None:
    wrong = [REFERENCES[0], "Sie hat ein Heft gekauft."]
    judge, metrics = make_judge(beam=wrong)
    perfect = judge.judge(Decoder("a", (), searched_for="BLEU"), REFERENCES, COST)
    partly = judge.judge(Decoder("b", ()), wrong, COST)

    assert (round(perfect.scores["BLEU"], 8), perfect.exact) == (1, 1)
    assert 0.2 < partly.scores["BLEU"] < 0.9
    assert partly.exact == 0.5
    ratio = metrics["ratio"]
    assert partly.scores["ratio"] == ratio.corpus_score(wrong, ["in the garden", "a book"])
    assert perfect.p_value is not None
    assert partly.p_value is None  # it searches for likelihood, which is no metric here
    shown = table([perfect, partly], metrics).splitlines()
    scored = f"100.00 {ratio.format(perfect.scores['ratio'])}"
    p_value = f"{perfect.p_value:.3f}".removeprefix("0")
    assert shown[2].split() == f"a BLEU {scored} {p_value} 100.0% 8.0 2.0 1.0".split()


def test_a_clear_difference_to_beam_search_has_a_small_p_value() -> None:
    references = [f"Satz {number} ist ganz richtig." for number in range(40)]
    metrics = {"chrF": build_metric("chrf")}
    beam = [line.replace("richtig", "falsch") for line in references]
    judge = Judge(metrics, HeldOut(references, references), beam)
    p_values = [
        judge.judge(Decoder("a", (), searched_for="chrF"), hypotheses, COST).p_value
        for hypotheses in (references, beam)
    ]
    assert p_values[0] is not None
    assert p_values[1] is not None
    assert p_values[0] < 0.002
    assert p_values[1] > 0.9


def test_scoring_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge, _ = make_judge(beam=None)
    given = [(Decoder(name, ()), REFERENCES, COST) for name in ("a", "b")]
    quick = judge.judge_all(given)
    assert [result.decoder.name for result in quick] == ["a", "b"]
    assert capsys.readouterr().err == ""  # it took no time
    monkeypatch.setattr(results, "_SILENT_SECONDS", 0.0)
    assert judge.judge_all(given) == quick
    assert "scoring: 2/2 decoders" in capsys.readouterr().err


def test_a_lost_line_is_an_error() -> None:
    judge, _ = make_judge(beam=None)
    with pytest.raises(ValueError, match="beam: 1 translations for 2 references"):
        judge.judge(Decoder("beam", ()), ["a"], COST)


def test_value_quality_is_that_of_the_last_validation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = '| INFO | valid | {{"epoch": {}, "valid_loss": "3", "valid_value_mae": "{}", '
    line += '"valid_value_mae_finished": "0.9", "valid_value_mae_of_mean": "0.2", '
    line += '"valid_value_pearson": "0.5", "valid_value_pearson_finished": "-0.25"}}\n'
    log.write_text(line.format(1, 0.3) + line.format(2, 0.125))
    shown = value_quality(log)
    assert "error 0.1250 (of always saying the mean score: 0.2000)" in shown
    assert "correlation 0.50, of finished samples -0.25" in shown
