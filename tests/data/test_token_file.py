"""fairseq itself reads what is written, and would have written the same bytes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data import indexed_dataset

from fairseq_mcts.data import token_file
from fairseq_mcts.data.token_file import TokenFileWriter, TokenRows


@pytest.mark.parametrize("vocabulary", [1000, 70_000])
def test_the_files_equal_those_of_fairseqs_builder(
    tmp_path: Path, vocabulary: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_file, "_BLOCK", 3)  # offsets are then computed in several steps
    dice = np.random.default_rng(0)
    sentences = [dice.integers(0, vocabulary, size) for size in (5, 1, 0, 7, 2, 2, 9, 1, 1, 4)]

    writer = TokenFileWriter(tmp_path / "train.en-de.en", vocabulary)
    for part in (sentences[:4], [], sentences[4:]):
        writer.add(TokenRows.of(part))
    writer.finish()

    builder = indexed_dataset.make_builder(str(tmp_path / "plain.bin"), "mmap", vocabulary)
    for sentence in sentences:
        builder.add_item(torch.from_numpy(sentence))
    builder.finalize(str(tmp_path / "plain.idx"))
    for ours, theirs in zip(writer.paths, ("plain.bin", "plain.idx"), strict=True):
        assert ours.read_bytes() == (tmp_path / theirs).read_bytes()

    read = indexed_dataset.make_dataset(str(tmp_path / "train.en-de.en"), "mmap")
    assert [row.tolist() for row in read] == [row.tolist() for row in sentences]


def test_rows_come_apart_as_they_were_put_together() -> None:
    sentences = [np.array([4, 5]), np.array([], np.int64), np.array([6])]
    assert [row.tolist() for row in TokenRows.of(sentences).split()] == [[4, 5], [], [6]]
    assert TokenRows.of([]).split() == []
