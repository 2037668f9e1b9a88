"""Text without translations, of which only a part is in memory."""

import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq.data import Dictionary

from fairseq_mcts.relabelling.corpus import Corpus, SourceRange
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.text_corpus import open_text

ROWS = 2500
EOS = 2


class Encoder:
    """Splits at spaces, and counts the lines."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, line: str) -> str:
        self.count += 1
        return line


def corpus_of(path: Path, encode: Encoder, limit: SourceRange | None = None) -> Corpus:
    dictionary = Dictionary()
    for word in "ab":
        dictionary.add_symbol(word)
    task = SimpleNamespace(source_dictionary=dictionary, target_dictionary=dictionary)
    return open_text(task, "train", path, encode, limit)


def write(path: Path, rows: int, odd: dict[int, str] | None = None) -> Path:
    lines = ["a b" if row % 2 else "a" for row in range(rows)]
    for row, line in (odd or {}).items():
        lines[row] = line
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_line_is_split_once_for_its_chunk_and_once_for_all_lengths(tmp_path: Path) -> None:
    encode = Encoder()
    corpus = corpus_of(write(tmp_path / "text", ROWS), encode)
    assert encode.count == 0
    corpus.refuse_unfit(3)
    assert encode.count == ROWS
    corpus.refuse_unfit(5)
    assert encode.count == ROWS
    rows = range(700, 1700)
    fitting = corpus.fitting(rows, 3).tolist()
    assert [len(corpus.sources[row]) for row in fitting] == [2, 3] * 500
    assert encode.count == ROWS + len(rows)
    assert len(corpus.sources[3]) == 3  # wherever it lies


def test_lengths_that_another_process_found_are_taken(tmp_path: Path) -> None:
    path, encode = write(tmp_path / "text", ROWS, {1200: "a b a b"}), Encoder()
    extremes = corpus_of(path, Encoder()).sources.survey(range(ROWS))
    assert extremes.tolist() == [[2, 3], [2, 5], [2, 3]]
    corpus = corpus_of(path, encode)
    corpus.sources.extremes = extremes
    corpus.refuse_unfit(5)
    assert encode.count == 0
    with pytest.raises(RelabellingError, match=r"train: 1 sources .* row 1200 with 5 tokens"):
        corpus.refuse_unfit(4)
    assert encode.count <= 1001


def test_unfit_lines_of_a_part_are_counted(tmp_path: Path) -> None:
    odd = {3: "", 900: "", 2300: "a b a b", 2400: "a b a b"}
    corpus = corpus_of(write(tmp_path / "text", ROWS, odd), Encoder(), SourceRange(500, 2400))
    assert corpus.rows == range(500, 2400)
    with pytest.raises(RelabellingError, match=r"2 sources .* first in row 900 with 1 tokens"):
        corpus.refuse_unfit(3)
    assert set(range(800, 1000)) - set(corpus.fitting(range(800, 1000), 3).tolist()) == {900}


def test_memory_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        path = write(tmp_path / "text", rows)
        tracemalloc.start()
        corpus = corpus_of(path, Encoder())
        corpus.refuse_unfit(3)
        for begin in range(0, rows, 1000):
            for row in corpus.fitting(range(begin, begin + 1000), 3).tolist():
                assert corpus.sources[row][-1] == EOS
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(10_000) < 1.5 * peak(2_000)
