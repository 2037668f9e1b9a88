"""The tables, from files as the study leaves them."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from examples.multi30k import report, sweep_tables, value_tables
from examples.multi30k.decoding_tables import (
    all_scores,
    architectures,
    main_comparison,
    separate_values,
    tuned_beams,
    unprivileged_metric,
)
from examples.multi30k.layout import Layout
from examples.multi30k.scores import HeldOutScores
from examples.multi30k.study import SCALING_BUDGETS
from examples.multi30k.sweep_tables import UNPRIVILEGED
from examples.multi30k.times import wall_times
from examples.multi30k.tuning import ALPHA, BACKUP, BEAM, TEMPERATURE
from tests.conftest import ParallelTexts
from tests.examples.multi30k.conftest import (
    Trials,
    write_decoding_log,
    write_generated,
    write_validation,
)

SENTENCES = 40


def cells(table: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert len({len(row) for row in rows}) == 1
    return {row[0]: row[1:] for row in rows}


@pytest.fixture
def decoded(layout: Layout, toy_pairs: ParallelTexts, toy_encoder: Path) -> Layout:
    """Beam search with some faults, V-MCTS with fewer, greedy as bad as beam search."""
    layout = replace(layout, encoder=str(toy_encoder))
    layout.corpus.mkdir(parents=True)
    sources, references = toy_pairs.sources[:SENTENCES], toy_pairs.targets[:SENTENCES]
    for language, lines in (("en", sources), ("de", references)):
        (layout.corpus / f"test.{language}").write_text("".join(f"{line}\n" for line in lines))
    faulty = [text.replace("Garten", "Haus").replace("heute", "nie") for text in references]
    outputs = {
        "beam": faulty,
        "greedy": faulty,
        "hybrid-bleu-mcts": [*references[:30], *faulty[30:]],
        "separate-bleu-mcts": references,
    }
    for system, hypotheses in outputs.items():
        write_generated(layout.decoded(system), hypotheses)
        write_decoding_log(layout, system)
    return layout


def test_main_comparison_has_the_papers_layout_and_numbers(decoded: Layout) -> None:
    rows = cells(main_comparison(HeldOutScores(decoded), "de"))
    assert list(rows)[2:] == [
        *("Random", "Reference", "Greedy", "Beam search", "VGBS", "S+RV", "V-MCTS", "S+R"),
        "MCTS+Roll",
    ]
    assert rows["Reference"][0].startswith("100.00 (")
    assert "(" not in rows["Beam search"][0]
    assert rows["V-MCTS"][1::2] == ["27.47", "88.45", "84.97"]
    assert rows["S+R"] == ["–", "–", "–", "–", "–", "85.11"]
    assert rows["VGBS"][0] == "–"  # not decoded yet
    assert float(rows["V-MCTS"][0].split()[0]) > float(rows["Beam search"][0])


def test_p_values_tell_a_difference_from_none(decoded: Layout) -> None:
    scores = HeldOutScores(decoded)
    better, same = (scores.score(name, "bleu") for name in ("separate-bleu-mcts", "greedy"))
    assert better is not None
    assert better.p_value is not None
    assert better.p_value < 0.05
    assert same is not None
    assert same.p_value == 1.0
    assert scores.score("nobody", "bleu") is None


def test_a_search_is_held_against_the_beam_tuned_for_its_metric(decoded: Layout) -> None:
    perfect = (decoded.corpus / "test.de").read_text().splitlines()
    for system in ("beam-mlbertscore", f"{UNPRIVILEGED}-mcts"):
        write_generated(decoded.decoded(system), perfect)
        write_decoding_log(decoded, system)
    lines = tuned_beams(HeldOutScores(decoded)).splitlines()
    rows = {tuple(part.strip() for part in line.split("|")[1:3]): line for line in lines}
    assert "(<.001)" in rows["BLEU", "V-MCTS"]
    assert "(1.0" in rows["MLBERTScore", "V-MCTS"]  # no better than its own beam
    assert "(" not in rows["MLBERTScore", "Beam search"]
    assert ("BERTScore", "Beam search") not in rows  # not decoded yet


def test_every_system_is_shown_by_every_metric(decoded: Layout) -> None:
    rows = cells(all_scores(HeldOutScores(decoded)))
    assert list(rows)[2:] == [
        *("random", "reference", "beam", "greedy", "hybrid-bleu-mcts", "separate-bleu-mcts"),
    ]
    assert rows["system"][:4] == ["BLEU", "BERTScore", "MLBERTScore", "chrF"]
    assert rows["hybrid-bleu-mcts"][4:] == ["50.0", "12.5", "12"]
    assert rows["random"][4:] == ["–", "–", "–"]


def test_small_tables_of_the_test_set(decoded: Layout) -> None:
    scores = HeldOutScores(decoded)
    row = cells(unprivileged_metric({"de": scores}))["en-de"]
    assert row[1::2] == ["68.13", "81.36", "83.02", "83.40"]
    hybrid = cells(architectures(scores))["BLEU, V-MCTS"]
    assert hybrid[1::2] == ["26.40", "38.52", "27.47"]
    assert hybrid[4].split()[0] == cells(main_comparison(scores, "de"))["V-MCTS"][0].split()[0]
    separate = cells(separate_values(scores, "de"))
    assert separate["value of BLEU"][:2] == ["100.00 (<.001)", "27.33"]
    assert separate["value of MLBERTScore"][0] == "–"


def test_a_lost_line_is_an_error(decoded: Layout) -> None:
    path = decoded.decoded("greedy") / "generate-test.txt"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(ValueError, match=r"39 translations for 40 references"):
        HeldOutScores(decoded).score("greedy", "bleu")


def test_sweeps_beside_the_paper(layout: Layout, trials: Trials) -> None:
    trials.write(f"{UNPRIVILEGED}-vgbs", ALPHA, [0.8 + n / 100 for n in range(12)])
    row = cells(sweep_tables.alphas(layout))["0.95"]
    assert row == ["–", "–", "79.47", "90.00", "85.55", "70.00"]

    trials.write(f"{UNPRIVILEGED}-mcts-backup", BACKUP, [0.81, 0.82, 0.83, 0.84])
    rows = cells(sweep_tables.backups(layout))
    assert rows["MLBERTScore"] == ["81.00", "82.00", "83.00", "84.00"]
    assert rows["BLEU"] == ["–"] * 4

    trials.write(f"{UNPRIVILEGED}-sr", TEMPERATURE, [0.8 + n / 100 for n in range(9)])
    row = cells(sweep_tables.temperatures(layout))["0.25"]
    assert row == ["81.00", "84.35", "–", "26.23", "–", "88.32", "–", "84.02", "61.00"]

    trials.write("beam", BEAM, [0.5 + (n % 4 == 1) / 10 for n in range(24)])
    assert cells(sweep_tables.beam_sizes(layout))["6"][:3] == ["40.00", "28.03", "0.6"]

    budgets = {"search-budget": SCALING_BUDGETS}
    trials.write(f"{UNPRIVILEGED}-scaling-sr", budgets, [0.8 + n / 100 for n in range(8)])
    rows = cells(sweep_tables.scaling(layout, "mlbertscore"))
    assert rows["budget"] == ["S+R", "its BLEU", "paper"]
    assert rows["300"] == ["87.00", "67.00", "85.89"]


def test_what_is_being_decoded_is_not_scored_yet(decoded: Layout) -> None:
    write_generated(decoded.decoded("hybrid-bleu-vgbs"), ["the first one"])
    write_decoding_log(decoded, "hybrid-bleu-vgbs", finished=False)
    scores = HeldOutScores(decoded)
    assert "hybrid-bleu-vgbs" not in scores.names()
    assert scores.score("hybrid-bleu-vgbs", "bleu") is None


def test_values_from_samples_beside_those_from_greedy_translations(
    layout: Layout, trials: Trials
) -> None:
    trials.write("dual-mlbertscore-mcts-backup", BACKUP, [0.81, 0.84, 0.83, 0.82])
    trials.write("dual-mlbertscore-sampled-mcts-backup", BACKUP, [0.85, 0.84, 0.83, 0.82])
    rows = cells(sweep_tables.greedy_or_sampled(layout))
    assert rows["MLBERTScore, V-MCTS"] == ["84.00", "30.00", "85.00", "30.00"]
    assert rows["MLBERTScore, VGBS"] == ["–"] * 4

    trials.write("hybrid-bleu-sampled-vgbs", ALPHA, [0.5 + n / 100 for n in range(12)])
    rows = cells(sweep_tables.greedy_or_sampled(layout))
    assert rows["BLEU, VGBS"] == ["–", "–", "41.00", "30.00"]


def test_errors_of_values_beside_the_paper(layout: Layout) -> None:
    write_validation(layout, "value-bleu-reference-every", value_mae=0.0512)
    under_way = layout.pair / "stages" / "value-bleu-source-every.log"
    under_way.write_text("no validation yet")
    under_way.with_suffix(".json").write_text('{"fingerprint": "", "finished": false}')
    rows = cells(value_tables.value_errors(layout))
    assert rows["source"] == ["–", "0.112", "–", "0.111"]
    assert rows["reference"] == ["0.051", "0.065", "–", "0.002"]

    write_validation(layout, "dual-mlbertscore", value_mae=0.04, value_pearson=0.9)
    rows = cells(value_tables.all_qualities(layout))
    assert rows["dual-mlbertscore"] == ["0.0400", "–", "–", "0.9000", "–", "–", "–", "–"]


def test_the_report_is_made_from_an_unfinished_study(
    decoded: Layout, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials.write(
        f"{UNPRIVILEGED}-scaling-mcts",
        {"search-budget": SCALING_BUDGETS},
        [0.8 + n / 100 for n in range(8)],
    )
    options = ["--work", str(decoded.work), "--encoder", decoded.encoder]
    monkeypatch.setattr(sys, "argv", ["report", *options])
    assert report.main() == 0
    text = (decoded.work / "report" / "tables.md").read_text()
    assert "## Main comparison, en-de (table 4)" in text
    assert "(pictures/scaling-en-de-mlbertscore.svg)" in text
    plot = decoded.work / "report" / "pictures" / "scaling-en-de-mlbertscore.svg"
    assert "</svg>" in plot.read_text()


def test_what_stands_above_the_tables_is_kept(
    decoded: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "RESULTS.md"
    file.write_text("# What we found\n")
    options = ["--work", str(decoded.work), "--encoder", decoded.encoder, "--into", str(file)]
    monkeypatch.setattr(sys, "argv", ["report", *options])
    for _ in range(2):  # the second time there are tables to be replaced
        assert report.main() == 0
        text = file.read_text()
        assert text.startswith("# What we found\n\n<!-- below")
        assert text.count("# All tables") == 1


def test_wall_times_are_those_of_finished_stages(layout: Layout) -> None:
    stages = layout.pair / "stages"
    stages.mkdir(parents=True)
    (stages / "policy.json").write_text('{"finished": true, "seconds": 90.0}')
    (stages / "running.json").write_text('{"finished": false}')
    rows = cells(wall_times(layout))
    assert rows["policy"] == ["1.5"]
    assert "running" not in rows


def test_a_folder_without_a_study_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["report", "--work", str(tmp_path), "--encoder", "e"])
    assert report.main() == 2
    assert f"--work {tmp_path}: holds no study" in capsys.readouterr().err
