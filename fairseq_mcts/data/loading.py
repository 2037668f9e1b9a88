"""What the task loads from a folder with scores: samples to train on, or references to judge by."""

from pathlib import Path
from typing import Any

from fairseq.data import (
    AppendTokenDataset,
    StripTokenDataset,
    TruncateDataset,
)

from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import (
    ScoredDataError,
    ScoredSplit,
    SplitNames,
    open_scored_split,
)


def load_scored_dataset(
    task: Any, split: str, folder: str, *, combine: bool = False
) -> ScoredPairDataset:
    """The rows of a split with their scores, for training and validation."""
    cfg = task.cfg
    if cfg.left_pad_target:
        raise ScoredDataError("--left-pad-target: prefixes with values are padded on the right")
    if cfg.num_batch_buckets:
        raise ScoredDataError("--num-batch-buckets: not for data with scores")
    opened = _open(task, split, folder, combine)
    return ScoredPairDataset(
        _sources(task, opened),
        opened.samples,
        opened.references,
        opened.scores,
        pad=task.target_dictionary.pad(),
        eos=task.target_dictionary.eos(),
        left_pad_source=cfg.left_pad_source,
        shuffle=split != "test",
        pad_to_multiple=cfg.required_seq_len_multiple,
    )


def split_names(task: Any, split: str, folder: str) -> SplitNames:
    """The files that the split has if it has scores."""
    return SplitNames(Path(folder), split, task.cfg.source_lang, task.cfg.target_lang)


def _open(task: Any, split: str, folder: str, combine: bool) -> ScoredSplit:
    if task.cfg.load_alignments:
        raise ScoredDataError("--load-alignments: data with scores have none")
    names = split_names(task, split, folder)
    second = split_names(task, f"{split}1", folder)
    if combine and second.source.with_name(second.source.name + ".idx").is_file():
        raise ScoredDataError(
            f"{second.source}.idx: splits with scores are not combined; put the parts into "
            "folders of their own and give them as DATA1:DATA2"
        )
    return open_scored_split(names)


def _sources(task: Any, opened: ScoredSplit) -> Any:
    """The sources, cut to --max-source-positions under --truncate-source."""
    if not task.cfg.truncate_source:
        return opened.sources
    eos = task.source_dictionary.eos()
    words = StripTokenDataset(opened.sources, eos)
    return AppendTokenDataset(TruncateDataset(words, task.cfg.max_source_positions - 1), eos)
