"""What becomes of finished chunks, and of files that are wanted later or have gone."""

from pathlib import Path

import numpy as np
import pytest

from fairseq_mcts.cli.generate import summary
from fairseq_mcts.cli.generate_join import OutputFiles, join
from fairseq_mcts.cli.generate_work import COUNTS, TEXTS
from fairseq_mcts.work import DamagedChunkError, Shard, cut

SETTINGS = {"json_lines": True, "input": {"rows": 5}}
CHUNKS = cut("news", range(5), 2, Shard())
#: two hypotheses each; the second sentence and the last are too long; one translation is empty
TRANSLATIONS = {0: ("eins", "ein"), 2: ("", "D-9\tx"), 3: ("a\tb", "c")}


def finished(folder: Path, *, plain_text: bool = False) -> OutputFiles:
    """An output folder with all chunks."""
    files = OutputFiles(folder, "news", plain_text)
    files.store().begin(SETTINGS, {})
    for chunk in CHUNKS:
        texts = dict.fromkeys(TEXTS, "")
        for row in chunk.rows:
            texts["plain_text"] += f"{TRANSLATIONS.get(row, [''])[0]}\n"
            if row in TRANSLATIONS:
                texts["lines"] += f"S-{row}\tsource\n"
                texts["json_lines"] += f'{{"id": {row}}}\n'
                for text in TRANSLATIONS[row]:
                    texts["lines"] += f"H-{row}\t-0.5\t{text}\nD-{row}\t-0.5\t{text}\nP-{row}\t-1\n"
        left_out = [(row, 99) for row in chunk.rows if row not in TRANSLATIONS]
        arrays = {
            **{name: np.frombuffer(text.encode(), np.uint8) for name, text in texts.items()},
            "ids": np.array([row for row in chunk.rows if row in TRANSLATIONS], np.int64),
            "left_out": np.array(left_out, np.int64).reshape(-1, 2),
            "counts": np.ones(len(COUNTS), np.int64),
            "failures": np.frombuffer(b"[]", np.uint8),
        }
        files.store().write(chunk.number, SETTINGS, arrays)
    return files


def test_plain_text_that_is_wanted_later_is_that_of_the_lines(tmp_path: Path) -> None:
    whole, later = finished(tmp_path / "whole", plain_text=True), finished(tmp_path / "later")
    for files in (whole, later):
        join(files, SETTINGS, CHUNKS)
        assert files.is_complete(SETTINGS)
    assert whole.texts["plain_text"].read_text() == "eins\n\n\na\tb\n\n"
    assert not later.texts["plain_text"].exists()
    assert OutputFiles(later.folder, "news", plain_text=True).is_complete(SETTINGS)
    for name in TEXTS:
        assert later.texts[name].read_bytes() == whole.texts[name].read_bytes()


@pytest.mark.parametrize("gone", ["lines", "json_lines"])
def test_output_of_which_a_file_is_gone_is_not_complete(tmp_path: Path, gone: str) -> None:
    files = finished(tmp_path)
    join(files, SETTINGS, CHUNKS)
    files.texts[gone].unlink()
    with pytest.raises(ValueError, match=rf"--out: {files.texts[gone]} is gone, .* put it back, "):
        files.is_complete(SETTINGS)


def test_a_chunk_of_other_sentences_is_named_with_advice(tmp_path: Path) -> None:
    files = finished(tmp_path)
    store = files.store()
    store.path(1).write_bytes(store.path(0).read_bytes())
    with pytest.raises(DamagedChunkError, match=r"1\.npz does not hold .*; delete it and run the"):
        join(files, SETTINGS, CHUNKS)


def test_few_of_many_failures_are_printed() -> None:
    record = {
        "counts": dict.fromkeys(COUNTS, 1),
        "left_out": [],
        "failed": [{"id": number, "why": "no number"} for number in range(1000)],
    }
    lines = summary("news", record).splitlines()
    assert lines[1] == "failed: 1,000 sentences"
    assert lines[11:] == ["  sentence 9: no number", "  … (generate-news.json names all)"]
