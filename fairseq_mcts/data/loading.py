"""What the task loads from a folder with scores: pairs with scored samples beside them."""

from pathlib import Path
from typing import Any

from fairseq.data import AppendTokenDataset, StripTokenDataset, TruncateDataset

from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import ScoredDataError, SplitNames, open_scored_split


def load_scored_dataset(
    task: Any, split: str, folder: str, *, combine: bool = False
) -> ScoredPairDataset:
    """The rows of a split: source, reference, sample and score."""
    cfg = task.cfg
    if cfg.left_pad_target:
        raise ScoredDataError("--left-pad-target: prefixes with values are padded on the right")
    if cfg.num_batch_buckets:
        raise ScoredDataError("--num-batch-buckets: not for data with scores")
    if cfg.load_alignments:
        raise ScoredDataError("--load-alignments: data with scores have none")
    second = split_names(task, f"{split}1", folder)
    if combine and second.source.with_name(second.source.name + ".idx").is_file():
        raise ScoredDataError(
            f"{second.source}.idx: splits with scores are not combined; put the parts into "
            "folders of their own and give them as DATA1:DATA2"
        )
    opened = open_scored_split(split_names(task, split, folder))
    sources = opened.sources
    if cfg.truncate_source:
        eos = task.source_dictionary.eos()
        words = TruncateDataset(StripTokenDataset(sources, eos), cfg.max_source_positions - 1)
        sources = AppendTokenDataset(words, eos)
    return ScoredPairDataset(
        sources,
        opened.samples,
        opened.references,
        opened.scores,
        pad=task.target_dictionary.pad(),
        eos=task.target_dictionary.eos(),
        left_pad_source=cfg.left_pad_source,
        shuffle=split != "test",
        pad_to_multiple=cfg.required_seq_len_multiple,
    )


def split_names(task: Any, split: str, folder: str | Path) -> SplitNames:
    """The files that the split has if it has scores."""
    return SplitNames(Path(folder), split, task.cfg.source_lang, task.cfg.target_lang)
