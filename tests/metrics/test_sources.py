"""References that bring their sources along, and how they reach a metric that reads both."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairseq.data import Dictionary

import tests.metrics.both_texts  # noqa: F401 - registers the metric
from fairseq_mcts.cli import score
from fairseq_mcts.generators.search_metric import SearchUtility
from fairseq_mcts.metrics import build_metric, with_sources
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search.scorer import Candidate, Comparison


def test_they_are_texts_like_any_other() -> None:
    plain = ["ein Hund", "zwei"]
    known = with_sources(plain, ["a dog", "two"])
    assert known == plain and [one.source for one in known] == ["a dog", "two"]  # type: ignore[attr-defined]
    assert dict.fromkeys(known) == dict.fromkeys(plain)
    with pytest.raises(ValueError, match="zip"):
        with_sources(plain, ["a dog"])


def test_a_metric_without_sources_says_so() -> None:
    metric = build_metric("both_texts")
    assert metric.score(["a b", "c d"], with_sources(["a", "a"], ["b", "c"])) == [1.0, 0.5]
    with pytest.raises(ValueError, match=r"^both_texts: reads sources beside references, and got"):
        metric.score(["a"], ["a"])


def test_a_mix_reads_what_its_parts_read() -> None:
    metric = build_metric("mix:both_texts=1,chrf=1")
    assert metric.reads_source and not build_metric("mix:chrf=1").reads_source
    assert metric.score(["ab"], with_sources(["ab"], ["x"])) == [1.0]


def test_candidates_of_several_sentences_are_compared_with_their_own_sources() -> None:
    dictionary = Dictionary()
    a, b, c = (dictionary.add_symbol(word) for word in "abc")
    eos = dictionary.eos()
    sentences = {
        number: [Candidate(number, (a, b, eos), -1.0), Candidate(number, (a, c, eos), -1.0)]
        for number in (0, 1)
    }
    utility = SearchUtility(build_metric("both_texts"), TextDecoder(dictionary), ["b", "c"])
    weights = np.array([0.5, 0.5])
    found = utility([Comparison(pair, pair, weights) for pair in sentences.values()])
    # "a c" against "a b" of the source "b", and so on
    assert found[0].tolist() == [[1.0, 1.0], [0.5, 1.0]]
    assert found[1].tolist() == [[1.0, 0.5], [1.0, 1.0]]


def test_reports_give_both_texts(tmp_path: Path, capsys: Any) -> None:
    for name, text in {"out": "a b\nc d", "source": "b\nx", "reference": "a\nc"}.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    arguments = [str(tmp_path / "out"), "--metrics", "both_texts", "--resamples", "0"]
    arguments += ["--references", str(tmp_path / "reference"), "--json", "-"]
    score.main([*arguments, "--sources", str(tmp_path / "source")])
    result = json.loads(capsys.readouterr().out)
    assert result["systems"]["out"]["scores"]["both_texts"]["score"] == 0.75
    with pytest.raises(SystemExit):
        score.main(arguments)
    assert "metric both_texts reads sources too: give --sources" in capsys.readouterr().err
