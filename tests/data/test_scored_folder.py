"""Folders with scores: what is written is read, and what is broken is refused by file and row."""

import json
import re
from typing import Any

import numpy as np
import pytest
from fairseq.data import data_utils
from fairseq.data.data_utils import infer_language_pair

from fairseq_mcts.data import scored_folder
from fairseq_mcts.data.scored_folder import ScoredDataError, open_scored_split


def test_rows_are_read_as_they_were_written(scored: Any) -> None:
    opened = open_scored_split(scored.names)
    for read, written in (
        (opened.sources, scored.sources),
        (opened.samples, scored.samples),
        (opened.references, scored.references),
    ):
        assert [row.tolist() for row in read] == [row.tolist() for row in written]
    assert np.array_equal(opened.scores, scored.scores)
    assert isinstance(opened.scores, np.memmap)
    assert opened.record["metric"]["name"] == "bleu"


def test_fairseq_sees_pairs_of_source_and_sample(scored: Any) -> None:
    folder = scored.names.folder
    assert infer_language_pair(str(folder)) == ["en", "de"]
    read = data_utils.load_indexed_dataset(str(folder / "train.en-de.de"), None)
    assert [row.tolist() for row in read] == [row.tolist() for row in scored.samples]


def test_a_folder_without_scores_is_refused(scored: Any) -> None:
    scored.names.score.unlink()
    with pytest.raises(ScoredDataError, match=r"score\.npy does not exist.*fairseq-mcts-relabel"):
        open_scored_split(scored.names)


@pytest.mark.parametrize("block", [7, 2**20])
@pytest.mark.parametrize(
    "wrong, complaint",
    [
        (np.nan, "row 33 has score nan: no number"),
        (1.25, r"row 33 has score 1\.25: outside \[0\.0, 1\.0\]"),
        (-np.inf, r"row 33 has score -inf: outside"),
    ],
)
def test_bad_scores_are_refused_with_their_row(
    scored: Any, wrong: float, complaint: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scored_folder, "_BLOCK", block)
    scores = scored.scores.copy()
    scores[33] = wrong
    np.save(scored.names.score, scores)
    with pytest.raises(ScoredDataError, match=rf"train\.en-de\.score\.npy: {complaint}"):
        open_scored_split(scored.names)


def test_scores_of_an_unbounded_metric_may_be_any_number(scored: Any) -> None:
    scored.names.record.write_text(
        json.dumps({"metric": {"range": [None, None]}, "methods": ["greedy"]})
    )
    scores = scored.scores * 100 - 50
    np.save(scored.names.score, scores)
    assert np.array_equal(open_scored_split(scored.names).scores, scores)


def test_scores_that_do_not_match_the_rows_are_refused(scored: Any) -> None:
    np.save(scored.names.score, scored.scores[:-1])
    with pytest.raises(ScoredDataError, match=r"en-de\.en\.idx has 50 rows but .* has 49"):
        open_scored_split(scored.names)


def test_scores_of_another_type_are_refused(scored: Any) -> None:
    np.save(scored.names.score, scored.scores.astype(np.float64))
    with pytest.raises(ScoredDataError, match=r"expected float32 \[N\], found float64 \[50\]"):
        open_scored_split(scored.names)


def test_a_missing_reference_is_refused(scored: Any) -> None:
    (scored.names.folder / "train.en-de.reference.de.idx").unlink()
    with pytest.raises(ScoredDataError, match=r"train\.en-de\.reference\.de\.bin or \.idx"):
        open_scored_split(scored.names)


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_broken_record_is_refused(scored: Any, content: str | None) -> None:
    scored.names.record.unlink()
    if content is not None:
        scored.names.record.write_text(content)
    with pytest.raises(ScoredDataError, match=re.escape("train.en-de.relabel.json")):
        open_scored_split(scored.names)


@pytest.mark.parametrize(
    "field, wrong, complaint",
    [
        ("source", 2, "its source stands before the last row's"),
        ("first", -1, "its first prefix is none"),
        ("first", 99, "its first prefix is none"),
        ("method", 2, "its method has no name"),
    ],
)
def test_bad_rows_are_refused(scored: Any, field: str, wrong: int, complaint: str) -> None:
    rows = np.load(scored.names.rows)
    rows[field][33] = wrong
    np.save(scored.names.rows, rows)
    with pytest.raises(ScoredDataError, match=rf"train\.en-de\.rows\.npy: row 33 .*{complaint}"):
        open_scored_split(scored.names)


def test_rows_of_another_kind_or_number_are_refused(scored: Any) -> None:
    rows = np.load(scored.names.rows)
    for wrong in (rows[:-1], rows["source"]):
        np.save(scored.names.rows, wrong)
        with pytest.raises(ScoredDataError, match=r"rows\.npy: expected .* \[50\], found"):
            open_scored_split(scored.names)


def test_a_folder_of_format_1_has_no_rows(scored: Any) -> None:
    scored.names.rows.unlink()
    assert open_scored_split(scored.names).rows is None


@pytest.mark.parametrize("name", ["score", "rows"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.99])
def test_a_truncated_file_is_named(scored: Any, name: str, share: float) -> None:
    path = getattr(scored.names, name)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ScoredDataError, match=rf"^{path}: is no whole file of numbers"):
        open_scored_split(scored.names)


def test_truncated_sentences_are_named(scored: Any) -> None:
    path = scored.names.reference.with_name(scored.names.reference.name + ".bin")
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ValueError, match=rf"^{path}: has [0-9]+ bytes, but"):
        open_scored_split(scored.names)
