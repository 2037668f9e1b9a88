"""Similarities of tokens on disk and in batches."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.data.loading import load_scored_dataset
from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import (
    ROW,
    ScoredDataError,
    ScoredRows,
    ScoredSplit,
    ScoredSplitWriter,
    SplitNames,
    open_scored_split,
)
from fairseq_mcts.data.similarities import CODES, UNKNOWN, codes_of, similarities_of
from fairseq_mcts.data.token_file import TokenRows
from tests.data.conftest import EOS, PAD, RECORD, VOCABULARY

SOURCES = [[5, 6, 7, EOS], [8, EOS]]
SAMPLES = [[9, EOS], [10, 11, EOS]]
NONE = np.nan
SIMILARITIES = [  # [tokens of the sample, of the source] of each row
    np.array([[0.5, NONE, -1.0, NONE], [NONE] * 4]),
    np.array([[0.25, NONE], [1.0, NONE], [NONE, NONE]]),
]


def written(folder: Path, split: str = "train") -> SplitNames:
    """A split of two sources with similarities."""
    names = SplitNames(folder, split, "en", "de")
    sizes = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
    writer = ScoredSplitWriter(names, 2, **sizes, with_similarities=True)
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
            TokenRows.of([codes_of(one).ravel().astype(np.int64) for one in SIMILARITIES]),
        )
    )
    writer.finish({**RECORD, "similarities": True})
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


def dataset_of(split: ScoredSplit, **options: Any) -> ScoredPairDataset:
    return ScoredPairDataset(
        split.sources,
        split.samples,
        split.references,
        split.scores,
        **{"pad": PAD, "eos": EOS, "similarities": split.similarities, **options},
    )


@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("left", [True, False])
def test_a_batch_has_them_where_the_tokens_are(tmp_path: Path, left: bool, multiple: int) -> None:
    split = open_scored_split(written(tmp_path))
    dataset = dataset_of(split, left_pad_source=left, pad_to_multiple=multiple)
    batch = dataset.collater([dataset[0], dataset[1]])
    fed, read = batch["scored"]["prev_output_tokens"], batch["net_input"]["src_tokens"]
    assert fed.shape[1] % multiple == 0
    expected = np.full((2, fed.shape[1], read.shape[1]), NONE)
    for row, (table, sample, source) in enumerate(zip(SIMILARITIES, SAMPLES, SOURCES, strict=True)):
        for one, token in enumerate(sample):
            for other, read_token in enumerate(source):
                places = np.flatnonzero(fed[row].numpy() == token)[-1]
                expected[row, places, read[row].tolist().index(read_token)] = table[one, other]
    found = batch["scored"]["similarities"].numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_source_that_is_cut_keeps_those_that_are_left(tmp_path: Path) -> None:
    split = open_scored_split(written(tmp_path))
    sources = [torch.tensor([5, 6, EOS]), split.sources[1]]
    others = (split.samples, split.references, split.scores)
    options = {"pad": PAD, "eos": EOS, "similarities": split.similarities}
    dataset = ScoredPairDataset(sources, *others, **options)
    found = dataset[0]["similarities"][0].numpy()
    np.testing.assert_allclose(found, [[0.5, NONE, NONE], [NONE] * 3], atol=1e-6)


def test_older_folders_and_parts_have_none(tmp_path: Path, scored: Any, task: Any) -> None:
    assert open_scored_split(scored.names).similarities is None
    older = load_scored_dataset(task, "train", str(scored.names.folder))
    assert "similarities" not in older.collater([older[0]])["scored"]

    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name("train1" + path.name.removeprefix("train")))
    written(scored.names.folder)
    joined = load_scored_dataset(task, "train", str(scored.names.folder), combine=True)
    assert len(joined) == 52
    batch = joined.collater([joined[0], joined[1], joined[30]])
    unknown = batch["scored"]["similarities"].isnan().all(dim=2).all(dim=1)
    assert unknown.tolist().count(True) == 1  # of the older part


def test_those_of_other_sentences_are_refused(tmp_path: Path) -> None:
    names = written(tmp_path)
    for ending in (".bin", ".idx"):
        shorter = names.source.with_name(names.source.name + ending)
        shorter.replace(names.similarities.with_name(names.similarities.name + ending))
        shutil.copy(names.sample.with_name(names.sample.name + ending), shorter)
    with pytest.raises(ScoredDataError, match=r"similarities\.idx: its rows are of other"):
        open_scored_split(names)


def test_a_missing_file_and_codes_that_are_none_are_refused(tmp_path: Path) -> None:
    names = written(tmp_path)
    data = names.similarities.with_name(names.similarities.name + ".bin")
    data.write_bytes(np.full(14, CODES, np.uint16).tobytes())
    dataset = dataset_of(open_scored_split(names))
    with pytest.raises(ValueError, match="row 1: its similarities are damaged: 2002 is no code"):
        dataset[1]
    data.unlink()
    with pytest.raises(ScoredDataError, match=r"similarities\.bin or \.idx is missing"):
        open_scored_split(names)
