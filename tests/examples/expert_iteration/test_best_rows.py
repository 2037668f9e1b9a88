"""What a policy learns from: one row of each source, the best."""

from pathlib import Path

import numpy as np
import pytest
from fairseq.data import Dictionary

from examples.expert_iteration.best_rows import keep_best
from fairseq_mcts.data.scored_folder import (
    ROW,
    ScoredRows,
    ScoredSplitWriter,
    SplitNames,
    open_scored_split,
)
from fairseq_mcts.data.token_file import TokenRows

EOS = 2
SOURCES = [0, 0, 0, 5, 5, 9]
SCORES = [0.25, 0.75, 0.5, 0.5, 0.5, 0.125]


@pytest.fixture
def names(tmp_path: Path) -> SplitNames:
    """Six rows of three sources; row i's sample is the token 4 + i."""
    folder = tmp_path / "rows"
    folder.mkdir()
    names = SplitNames(folder, "train", "en", "de")
    words = Dictionary()
    for number in range(10):
        words.add_symbol(f"w{number}")
    for language in ("en", "de"):
        words.save(str(folder / f"dict.{language}.txt"))
    writer = ScoredSplitWriter(
        names, len(SCORES), source_vocabulary=len(words), target_vocabulary=len(words)
    )
    rows = np.zeros(len(SCORES), ROW)
    rows["source"], rows["first"] = SOURCES, [0, 1, 0, 2, 0, 1]
    samples, sources = (
        TokenRows.of([np.array([4 + one, EOS]) for one in numbers])
        for numbers in (range(len(SCORES)), SOURCES)
    )
    writer.add(ScoredRows(sources, samples, sources, np.array(SCORES, np.float32), rows))
    writer.finish({"metric": {"name": "bleu", "range": [0.0, 1.0]}, "methods": ["search"]})
    return names


def test_the_best_row_of_each_source_is_kept(names: SplitNames, tmp_path: Path) -> None:
    out = names.within(tmp_path / "best")
    out.folder.mkdir()
    kept = keep_best(names, out, "rows")
    split = open_scored_split(out)
    assert [row.tolist() for row in split.samples] == [[5, EOS], [7, EOS], [9, EOS]]
    assert [row.tolist() for row in split.sources] == [[4, EOS], [9, EOS], [13, EOS]]
    assert split.scores.tolist() == [0.75, 0.5, 0.125]
    assert split.rows is not None and split.rows["first"].tolist() == [1, 2, 1]
    assert split.record["best_of"] == "rows"
    assert (out.folder / "dict.de.txt").read_bytes() == (names.folder / "dict.de.txt").read_bytes()
    assert kept.sources == 3
    assert kept.before == pytest.approx(np.mean(SCORES)) and kept.after > kept.before


def test_rows_without_their_sources_are_refused(names: SplitNames, tmp_path: Path) -> None:
    names.rows.unlink()
    with pytest.raises(ValueError, match=r"rows\.npy is missing"):
        keep_best(names, names.within(tmp_path), "rows")
