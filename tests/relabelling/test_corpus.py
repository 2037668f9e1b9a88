"""Which rows of a corpus an encoder can read, and what is said of the others."""

import errno
import os
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fairseq_mcts.data.scored_folder import SplitNames
from fairseq_mcts.relabelling.corpus import Corpus, copy_dictionaries
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.work import WorkError


def corpus(sizes: list[int], rows: range, *, is_text: bool = False) -> Corpus:
    lengths = np.array(sizes, np.int32)
    sources = SimpleNamespace(
        sizes=lengths,  # of binarised sentences; a text is asked by rows
        lengths=lambda some: lengths[some.start : some.stop],
        blocks_beyond=lambda some, least, most: [some],
    )
    return Corpus("train", [], sources, None, rows, is_text)


def test_rows_that_do_not_fit_are_counted_and_the_first_is_named() -> None:
    given = corpus([99, 3, 9, 8, 1, 10, 99], range(1, 6))
    assert given.fitting(range(1, 6), 8).tolist() == [1, 3, 4]
    with pytest.raises(RelabellingError) as refused:
        given.refuse_unfit(8)
    assert "train: 2 sources are longer than the policy's 8 positions" in str(refused.value)
    assert "the first in row 2 with 9 tokens" in str(refused.value)
    given.refuse_unfit(10)


def test_empty_lines_of_a_text_do_not_fit() -> None:
    given = corpus([3, 1, 2], range(3), is_text=True)
    assert given.fitting(range(3), 8).tolist() == [0, 2]
    with pytest.raises(RelabellingError, match=r"1 sources are empty or longer .* in row 1 with 1"):
        given.refuse_unfit(8)


def test_a_disk_without_room_for_dictionaries_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    for language in ("en", "de"):
        (tmp_path / "data" / f"dict.{language}.txt").write_text("a 1\n")

    def full(path: Path, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("fairseq_mcts.relabelling.corpus.complete_file", full)
    names = SplitNames(tmp_path / "out", "train", "en", "de")
    with pytest.raises(WorkError, match=r"no room left to write .* Make room and give the same"):
        copy_dictionaries(names, tmp_path / "data", tmp_path)


def test_a_large_corpus_takes_little_memory() -> None:
    """Each worker does this as it opens: 41 million rows are not to become Python's numbers."""
    rows = 400_000
    given = corpus([5] * rows, range(rows))
    tracemalloc.start()
    try:
        given.refuse_unfit(8)
        assert tracemalloc.get_traced_memory()[1] < 5 * rows  # bytes
    finally:
        tracemalloc.stop()
