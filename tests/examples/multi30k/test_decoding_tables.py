"""The tables of the test set, from files as the study leaves them."""

from examples.multi30k.decoding_tables import (
    all_scores,
    architectures,
    gains,
    main_comparison,
    separate_values,
    tuned_beams,
    unprivileged_metric,
)
from examples.multi30k.layout import Layout
from examples.multi30k.scores import HeldOutScores
from examples.multi30k.sweep_tables import UNPRIVILEGED
from fairseq_mcts.metrics.system_output import read_system
from tests.examples.multi30k.conftest import (
    cells,
    write_decoding_log,
    write_generated,
)


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
        *(
            "random",
            "reference",
            "beam",
            "greedy",
            "hybrid-bleu-sampled-mcts",
            "separate-bleu-mcts",
        ),
    ]
    assert rows["system"][:4] == ["BLEU", "BERTScore", "MLBERTScore", "chrF"]
    assert rows["hybrid-bleu-sampled-mcts"][4:] == ["50.0", "12.5", "12"]
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


def test_gains_are_means_over_seeds_and_parts_of_what_the_metric_gains(decoded: Layout) -> None:
    perfect = (decoded.corpus / "test.de").read_text().splitlines()
    faulty = read_system(decoded.decoded("beam") / "generate-test.txt").hypotheses
    outputs = {
        "beam-mlbertscore": faulty,
        f"{UNPRIVILEGED}-sr": perfect,
        f"{UNPRIVILEGED}-vgbs": perfect,
        f"{UNPRIVILEGED}-seed2-vgbs": faulty,
    }
    for system, hypotheses in outputs.items():
        write_generated(decoded.decoded(system), hypotheses)
        write_decoding_log(decoded, system)
    lines = gains({"de": HeldOutScores(decoded)}).splitlines()[2:]
    rows = {line.split("|")[2].strip(): [c.strip() for c in line.split("|")] for line in lines}
    assert rows["S+R"][5] == "100 %"
    assert rows["VGBS"][5] == "50 %"
    assert "+0.00" in rows["VGBS"][4].split(" to ")
    assert set(rows) == {"VGBS", "S+R"}
