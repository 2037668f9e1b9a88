"""Text without translations, and parts of a corpus."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from fairseq_mcts.data.scored_folder import ScoredSplit, SplitNames, open_scored_split
from tests.cli.relabel.runs import CHUNKS, POLICY, complaint, content, relabelled

LETTERS = (*POLICY, *CHUNKS, "--metric", "letters")
EOS = 2


def opened(out: Path, split: str) -> ScoredSplit:
    return open_scored_split(SplitNames(out, split, "en", "de"))


def lines_of(folder: Path) -> list[str]:
    return (folder / "valid.en").read_text().splitlines()


@pytest.mark.parametrize("name", ["mono.en", "mono.en.gz"])
def test_lines_of_text_get_the_rows_of_a_corpus(folder: Path, name: str) -> None:
    text = (folder / "valid.en").read_bytes()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    growing = ("--method", "completions", "--rounds", "1")
    relabelled(folder, *LETTERS, *growing, "--monolingual", name, "--out", f"from {name}")
    binarised = ("--subset", "valid", "--out-subset", "train", "--out", f"beside {name}")
    relabelled(folder, *LETTERS, *growing, *binarised)
    ours, theirs = (content(folder / f"{where} {name}") for where in ("from", "beside"))
    differ = {file for file in ours if ours[file] != theirs[file]}
    endings = ("reference.de.bin", "reference.de.idx", "relabel.json")
    assert differ == {f"train.en-de.{ending}" for ending in endings}
    split = opened(folder / f"from {name}", "train")
    assert {tuple(row.tolist()) for row in split.references} == {(EOS,)}
    assert split.record["data"]["monolingual"] is True
    assert split.record["origin"]["monolingual"] == name


def test_parts_of_a_corpus_are_taken_by_row(folder: Path, greedy: Path) -> None:
    one_split = (*POLICY, "--chunk-rows", "3", "--metric", "bleu", "--subset", "valid", "--out")
    relabelled(folder, *one_split, "parts", "--limit-sources", "5")
    rest = ("parts", "--limit-sources", "5:50", "--out-subset", "valid1")
    report = relabelled(folder, *one_split, *rest).out
    assert "valid1: 16 rows of 16 sources" in report
    whole = opened(greedy, "valid")
    parts = [opened(folder / "parts", split) for split in ("valid", "valid1")]
    samples = [row.tolist() for part in parts for row in part.samples]
    assert samples == [row.tolist() for row in whole.samples]
    numbers = np.concatenate([part.rows["source"] for part in parts if part.rows is not None])
    assert numbers.tolist() == list(range(21))

    shards = ("--num-shards", "2", "--shard")
    for shard in ("0", "1"):
        again = ("parts again", *rest[1:], *shards, shard)
        relabelled(folder, *one_split, *again)
    merging = ("--subset", "valid", "--out-subset", "valid1", "--merge", "--out", "parts again")
    relabelled(folder, "bin", *merging)
    made = {name: data for name, data in content(folder / "parts").items() if "valid." not in name}
    assert content(folder / "parts again") == made


def test_a_part_of_a_text_is_taken_by_line(folder: Path) -> None:
    text = ("--monolingual", "valid.en", "--out", "some lines", "--limit-sources", "2:6")
    relabelled(folder, *LETTERS, *text)
    split = opened(folder / "some lines", "train")
    assert split.rows is not None
    assert split.rows["source"].tolist() == [2, 3, 4, 5]
    assert [len(row) - 1 for row in split.sources] == [
        len(line.split()) for line in lines_of(folder)[2:6]
    ]


def test_empty_and_long_lines_are_refused_or_left_out(folder: Path) -> None:
    lines = lines_of(folder)[:4]
    (folder / "odd.en").write_text("\n".join([lines[0], "", lines[1], " ", "w1 " * 1200, lines[2]]))
    arguments = (*LETTERS, "--monolingual", "odd.en", "--out", "odd")
    text = complaint(folder, *arguments)
    assert "train: 3 sources are empty or longer than the policy's 128 positions" in text
    assert "the first in row 1 with 1 tokens; --skip-too-long leaves them out" in text
    report = relabelled(folder, *arguments, "--skip-too-long").out
    assert "left out, source too long or empty: 3;" in report
    split = opened(folder / "odd", "train")
    assert split.rows is not None
    assert split.rows["source"].tolist() == [0, 2, 5]


REFUSED: dict[str, tuple[list[str], str]] = {
    "metric with references": (
        ["--metric", "bleu", "--monolingual", "valid.en"],
        "--monolingual: --metric bleu compares with references",
    ),
    "no file": (["--monolingual", "no.en"], "--monolingual no.en: no such file"),
    "no text": (["--monolingual", "model/checkpoint_best.pt"], "can't be read as text"),
    "no gzip": (["--monolingual", "false.gz"], "--monolingual false.gz: can't be read as text"),
    "no lines": (
        ["--monolingual", "valid.en", "--limit-sources", "50:60"],
        "--monolingual valid.en: has no lines there",
    ),
    "no rows": (
        ["--subset", "valid", "--limit-sources", "50:60"],
        "--limit-sources: bin/valid.en-de.en has 21 rows",
    ),
    "empty range": (["--subset", "valid", "--limit-sources", "6:6"], "6:6: holds no row"),
    "no range": (["--subset", "valid", "--limit-sources", "a:6"], "expected N or BEGIN:END"),
    "two splits": (["--out-subset", "train1"], "--out-subset: concerns one split"),
    "only joined": (
        ["--monolingual", "valid.en", "--post-process", "subword_nmt"],
        "--monolingual: --post-process only joins subwords",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_before_anything_is_written(folder: Path, case: str) -> None:
    (folder / "false.gz").write_text("no gzip\n")
    arguments, message = REFUSED[case]
    assert message in complaint(folder, *LETTERS, *arguments, "--out", "refused text")
    assert not list((folder / "refused text").rglob("*.*"))
