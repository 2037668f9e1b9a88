"""What the task loads from a folder with scores, and which options it refuses there."""

import json
import shutil
from typing import Any

import numpy as np
import pytest
from torch.utils.data import DataLoader

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import ScoredDataError, SplitNames


def test_a_row_is_a_pair_with_a_scored_sample_beside_it(task: Any, scored: Any) -> None:
    """The same for training and for decoding: each reads what it needs."""
    task.load_dataset("train", combine=True)
    dataset = task.dataset("train")
    assert isinstance(dataset, ScoredPairDataset)
    row = dataset[7]
    assert row["source"].tolist() == scored.sources[7].tolist()
    assert row["target"].tolist() == scored.references[7].tolist()
    assert [sample.tolist() for sample in row["samples"]] == [scored.samples[7].tolist()]
    assert row["scores"] == [scored.scores[7]]
    assert row["first"] == [0]


def test_rows_of_another_corpus_are_refused(task: Any, scored: Any) -> None:
    """Of as many types, so that no token is beyond the dictionary."""
    folder = scored.names.folder
    paths = [folder / f"dict.{language}.txt" for language in ("en", "de")]
    for path in paths:
        task.source_dictionary.save(str(path))
    record = json.loads(scored.names.record.read_text())
    record["data"] = {"dictionaries": digest_of_files(paths)}
    scored.names.record.write_text(json.dumps(record))
    task.load_dataset("train", combine=True)
    lines = paths[1].read_text().splitlines(keepends=True)
    paths[1].write_text("".join([lines[1], lines[0], *lines[2:]]))
    complaint = rf"^{scored.names.record}: was relabelled with other dictionaries than {paths[0]}"
    with pytest.raises(ScoredDataError, match=complaint):
        task.load_dataset("train", combine=True)


def test_data_without_scores_are_left_to_fairseq(task: Any, scored: Any) -> None:
    scored.names.score.unlink()
    task.load_dataset("train")
    assert task.dataset("train")[7]["target"].tolist() == scored.samples[7].tolist()
    assert not isinstance(task.dataset("train"), ScoredPairDataset)


def test_folders_take_turns_in_training_and_the_first_serves_for_the_rest(
    task: Any, scored: Any
) -> None:
    second = scored.names.folder / "second"
    second.mkdir()
    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, second)
        shutil.copy(path, path.with_name(path.name.replace("train", "valid")))
    task.cfg.data = f"{scored.names.folder}:{second}"
    for epoch in (1, 2, 3):
        task.load_dataset("train", epoch=epoch)
        task.load_dataset("valid", epoch=epoch)  # not in the second folder
        assert len(task.dataset("train")) == len(task.dataset("valid")) == 50


def test_sources_are_cut_if_asked_for(task: Any, scored: Any) -> None:
    task.cfg.truncate_source = True
    task.cfg.max_source_positions = 5
    task.load_dataset("train")
    dataset = task.dataset("train")
    for row, source in enumerate(scored.sources):
        cut = source[:-1][:4].tolist()
        assert dataset[row]["source"].tolist() == [*cut, source[-1]]
    assert max(dataset.size(row)[0] for row in range(50)) == max(map(len, scored.references))


@pytest.mark.parametrize(
    "option, message",
    [
        ({"left_pad_target": True}, "--left-pad-target"),
        ({"num_batch_buckets": 2}, "--num-batch-buckets"),
        ({"load_alignments": True}, "--load-alignments"),
    ],
)
def test_options_without_a_meaning_for_scores_are_refused(
    task: Any, option: dict[str, Any], message: str
) -> None:
    for name, value in option.items():
        setattr(task.cfg, name, value)
    with pytest.raises(ScoredDataError, match=message):
        task.load_dataset("train")


def test_a_split_in_parts_is_combined(task: Any, scored: Any) -> None:
    """As fairseq-train reads train, train1, … of a folder together; one of them is of format 1."""
    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name(path.name.replace("train", "train1")))
    SplitNames(scored.names.folder, "train1", "en", "de").rows.unlink()
    task.load_dataset("train", combine=True)
    dataset = task.dataset("train")
    assert len(dataset) == 100
    for row, item in ((7, dataset[7]), (7, dataset[57])):
        assert item["source"].tolist() == scored.sources[row].tolist()
        assert item["samples"][0].tolist() == scored.samples[row].tolist()
        assert item["scores"] == [scored.scores[row]]
    task.load_dataset("train", combine=False)
    assert len(task.dataset("train")) == 50


def test_a_part_without_scores_is_refused(task: Any, scored: Any) -> None:
    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name(path.name.replace("train", "train1")))
    SplitNames(scored.names.folder, "train1", "en", "de").score.unlink()
    with pytest.raises(ScoredDataError, match=r"train1\.en-de\.score\.npy does not exist"):
        task.load_dataset("train", combine=True)


def test_parts_of_other_metrics_are_refused(task: Any, scored: Any) -> None:
    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name(path.name.replace("train", "train1")))
    second = SplitNames(scored.names.folder, "train1", "en", "de").record
    second.write_text(second.read_text().replace("bleu", "chrf"))
    with pytest.raises(ScoredDataError, match=r"train1.*was scored by another metric than"):
        task.load_dataset("train", combine=True)


def test_rows_of_a_source_are_limited_in_training_only(task: Any, scored: Any) -> None:
    rows = np.load(scored.names.rows)
    rows["source"] //= 5  # ten sources with five rows
    np.save(scored.names.rows, rows)
    for path in scored.names.folder.glob("train.*"):
        shutil.copy(path, path.with_name(path.name.replace("train", "valid")))
    task.cfg.rows_per_source = 3
    for split, count in (("train", 3), ("valid", 5)):
        task.load_dataset(split)
        assert len(task.dataset(split)) == 10
        assert len(task.dataset(split)[4]["samples"]) == count
    task.cfg.rows_per_source = 0
    with pytest.raises(ScoredDataError, match="--rows-per-source 0: must be at least 1"):
        task.load_dataset("train")


def test_workers_that_are_spawned_read_the_same_batches(task: Any, scored: Any) -> None:
    """They get the dataset by pickling: neither memory nor modules of the parent are theirs."""
    task.load_dataset("train")
    dataset = task.dataset("train")
    loader = DataLoader(
        dataset, 10, num_workers=1, multiprocessing_context="spawn", collate_fn=dataset.collater
    )
    here = DataLoader(dataset, 10, collate_fn=dataset.collater)
    for ours, theirs in zip(here, loader, strict=True):
        assert ours["target"].equal(theirs["target"])
        assert ours["scored"]["score"].equal(theirs["scored"]["score"])


def test_truncated_data_are_named_before_they_are_loaded(task: Any, scored: Any) -> None:
    scored.names.score.unlink()  # plain pairs
    path = scored.names.sample.with_name(scored.names.sample.name + ".idx")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=rf"^{path}: has"):
        task.load_dataset("train")
