"""Reading and scoring what fairseq-generate writes."""

from pathlib import Path

import pytest

from examples.demo.results import read_hypotheses, read_seconds, score, table


def test_hypotheses_come_in_the_order_of_the_test_set(tmp_path: Path) -> None:
    (tmp_path / "generate-test.txt").write_text(
        "S-10\ta b\nT-10\tA B\nH-10\t-0.5\tA B\nD-10\t-0.5\tA B\nP-10\t-0.5 -0.5\n"
        "D-2\t-1.5\tC\tD\nD-9\t-0.25\t\n"
        "Generate test with beam=1: BLEU4 = 1.00\n"
    )
    assert read_hypotheses(tmp_path) == ["C\tD", "", "A B"]


def test_seconds_are_those_of_fairseq(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x\nTranslated 41 sentences (84 tokens) in 0.9s (46.91 sentences/s)\n")
    assert read_seconds(log) == 0.9

    log.write_text("Traceback\n")
    with pytest.raises(ValueError, match="reports no time"):
        read_seconds(log)


def test_scores_of_perfect_and_of_partly_wrong_translations() -> None:
    references = ["Der Hund schläft heute im Garten.", "Sie hat ein Buch gelesen."]
    perfect = score("a", references, references, 1.0)
    partly = score("b", [references[0], "Sie hat ein Heft gekauft."], references, 2.0)

    assert (round(perfect.bleu, 6), round(perfect.chrf, 6), perfect.exact) == (100, 100, 1)
    assert 20 < partly.bleu < 90
    assert partly.exact == 0.5
    assert table([perfect, partly]).splitlines()[2].split() == [
        "a",
        "100.00",
        "100.00",
        "100.0%",
        "1.0",
    ]


def test_a_lost_line_is_an_error() -> None:
    with pytest.raises(ValueError, match="beam: 1 translations for 2 references"):
        score("beam", ["a"], ["a", "b"], 1.0)
