"""Matches of tokens on disk and in batches."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.data.loading import load_scored_dataset
from fairseq_mcts.data.matches import (
    CODES,
    UNKNOWN,
    TokenMatches,
    codes_of,
    similarities_of,
)
from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import (
    ROW,
    ScoredDataError,
    ScoredRows,
    ScoredSplitWriter,
    SplitNames,
    open_scored_split,
)
from fairseq_mcts.data.token_checks import DamagedDataError
from fairseq_mcts.data.token_file import TokenRows
from tests.data.conftest import EOS, PAD, RECORD, VOCABULARY

SOURCES = [[5, 6, 7, EOS], [8, EOS]]
SAMPLES = [[9, EOS], [10, 11, EOS]]
OF_SOURCES = [[0.5, np.nan, -1.0, np.nan], [1.0, np.nan]]
OF_SAMPLES = [[0.25, np.nan], [np.nan, np.nan, np.nan]]


def codes(rows: list[list[float]]) -> Any:
    return codes_of(np.concatenate([np.array(row) for row in rows]))


def written(folder: Path, split: str = "train") -> SplitNames:
    """A split of two sources with matches."""
    names = SplitNames(folder, split, "en", "de")
    sizes = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
    writer = ScoredSplitWriter(names, 2, **sizes, with_matches=True)
    rows = np.zeros(2, ROW)
    rows["source"] = [0, 1]
    sources, samples = ([np.array(one) for one in rows] for rows in (SOURCES, SAMPLES))
    writer.add(
        ScoredRows(
            TokenRows.of(sources),
            TokenRows.of(samples),
            TokenRows.of(samples),
            np.array([0.5, 0.25], np.float32),
            rows,
            TokenMatches(codes(OF_SOURCES), codes(OF_SAMPLES)),
        )
    )
    writer.finish({**RECORD, "matches": True})
    assert all(path.is_file() for path in writer.paths)
    return names


def test_codes_keep_three_digits() -> None:
    similarities = np.random.default_rng(1).uniform(-1, 1, 200)
    similarities[:4] = [-1, 1, 0, np.nan]
    stored = codes_of(similarities)
    assert stored.max() < CODES
    assert (stored == UNKNOWN).tolist() == np.isnan(similarities).tolist()
    found = similarities_of(torch.from_numpy(stored.astype(np.int64))).numpy()
    np.testing.assert_allclose(found, similarities, atol=0.00051)
    np.testing.assert_array_equal(codes_of(found.astype(np.float64)), stored)
    assert codes_of(np.array([1.0000002, -1.5])).tolist() == [CODES - 1, 1]  # a rounding beyond


@pytest.mark.parametrize("left", [True, False])
def test_a_batch_has_them_where_the_tokens_are(tmp_path: Path, left: bool) -> None:
    split = open_scored_split(written(tmp_path))
    dataset = ScoredPairDataset(
        split.sources,
        split.samples,
        split.references,
        split.scores,
        **{"pad": PAD, "eos": EOS, "left_pad_source": left, "matches": split.matches},
    )
    batch = dataset.collater([dataset[0], dataset[1]])
    matches = batch["scored"]["matches"]
    none = np.nan
    short = [none, none, 1.0, none] if left else [1.0, none, none, none]
    expected = {
        "source": [[0.5, none, -1.0, none], short],
        "sample": [[none, 0.25, none, none], [none, none, none, none]],
    }
    for name, rows in expected.items():
        np.testing.assert_allclose(matches[name].numpy(), np.array(rows), atol=1e-6)
    assert matches["source"].shape == batch["net_input"]["src_tokens"].shape
    assert matches["sample"].shape == batch["scored"]["prev_output_tokens"].shape


def test_a_source_that_is_cut_keeps_those_that_are_left(tmp_path: Path) -> None:
    split = open_scored_split(written(tmp_path))
    sources = [torch.tensor([5, 6, EOS]), split.sources[1]]
    others = (split.samples, split.references, split.scores)
    dataset = ScoredPairDataset(sources, *others, pad=PAD, eos=EOS, matches=split.matches)
    found = dataset[0]["source_matches"][0]
    assert found.tolist() == codes_of(np.array([0.5, np.nan, np.nan])).tolist()


def test_older_folders_and_parts_have_none(tmp_path: Path, scored: Any, task: Any) -> None:
    assert open_scored_split(scored.names).matches is None
    older = load_scored_dataset(task, "train", str(scored.names.folder))
    assert "matches" not in older.collater([older[0]])["scored"]

    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name("train1" + path.name.removeprefix("train")))
    written(scored.names.folder)
    joined = load_scored_dataset(task, "train", str(scored.names.folder), combine=True)
    assert len(joined) == 52
    matches = joined.collater([joined[0], joined[1], joined[30]])["scored"]["matches"]
    assert matches["source"].isnan().all(dim=1).tolist().count(True) == 1  # of the older part
    assert not matches["sample"].isnan().all()


def test_matches_of_other_sentences_are_refused(tmp_path: Path) -> None:
    names = written(tmp_path)
    for ending in (".bin", ".idx"):
        of_samples = names.sample_matches.with_name(names.sample_matches.name + ending)
        of_samples.rename(names.source_matches.with_name(names.source_matches.name + ending))
    with pytest.raises(ScoredDataError, match=r"matches\.en\.idx: its rows are not as long"):
        open_scored_split(names)


def test_a_missing_file_and_codes_that_are_none_are_refused(tmp_path: Path) -> None:
    names = written(tmp_path)
    data = names.source_matches.with_name(names.source_matches.name + ".bin")
    data.write_bytes(np.full(6, CODES, np.uint16).tobytes())
    with pytest.raises(DamagedDataError, match="holds the token 2,002"):
        open_scored_split(names)
    data.unlink()
    with pytest.raises(ScoredDataError, match=r"matches\.en\.bin or \.idx is missing"):
        open_scored_split(names)
