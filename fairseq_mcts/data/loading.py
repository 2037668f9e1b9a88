"""What the task loads from a folder with scores: pairs with scored samples beside them."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import utils
from fairseq.data import AppendTokenDataset, ConcatDataset, StripTokenDataset, TruncateDataset

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import (
    ScoredDataError,
    ScoredSplit,
    SplitNames,
    open_scored_split,
)
from fairseq_mcts.data.similarities import UnknownSimilarities
from fairseq_mcts.data.source_groups import SourceGroups

logger = logging.getLogger(__name__)


def load_scored_dataset(
    task: Any, split: str, folder: str, *, combine: bool = False
) -> ScoredPairDataset:
    """The sources of a split, each with its reference and its rows of sample and score.

    `combine` adds the splits SPLIT1, SPLIT2, … of the folder, as fairseq-train does.
    """
    cfg = task.cfg
    if cfg.left_pad_target:
        raise ScoredDataError("--left-pad-target: prefixes with values are padded on the right")
    if cfg.num_batch_buckets:
        raise ScoredDataError("--num-batch-buckets: not for data with scores")
    if cfg.load_alignments:
        raise ScoredDataError("--load-alignments: data with scores have none")
    rows_per_source = cfg.rows_per_source if split == cfg.train_subset else None
    if rows_per_source is not None and rows_per_source < 1:
        raise ScoredDataError(f"--rows-per-source {rows_per_source}: must be at least 1")
    names = split_names(task, split, folder)
    parts = [open_scored_split(part) for part in (names.parts() if combine else [names])]
    _refuse_other_metrics(names, parts)
    _refuse_other_dictionaries(task, names, parts)
    groups = [SourceGroups.of(part.rows, len(part.scores)) for part in parts]
    for part, of_part in zip(names.parts(), groups, strict=False):
        rows = int(of_part.counts.sum())
        logger.info(f"{folder} {part.split}: {rows:,} scored rows of {len(of_part):,} sources")
    sources = _joined([part.sources for part in parts])
    if cfg.truncate_source:
        eos = task.source_dictionary.eos()
        words = TruncateDataset(StripTokenDataset(sources, eos), cfg.max_source_positions - 1)
        sources = AppendTokenDataset(words, eos)
    return ScoredPairDataset(
        sources,
        _joined([part.samples for part in parts]),
        _joined([part.references for part in parts]),
        np.concatenate([part.scores for part in parts]) if len(parts) > 1 else parts[0].scores,
        groups=SourceGroups.joined(groups),
        first=_first(parts),
        similarities=_similarities(parts),
        rows_per_source=rows_per_source,
        pad=task.target_dictionary.pad(),
        eos=task.target_dictionary.eos(),
        left_pad_source=cfg.left_pad_source,
        shuffle=split != "test",
        pad_to_multiple=cfg.required_seq_len_multiple,
    )


def _refuse_other_metrics(names: SplitNames, parts: Sequence[ScoredSplit]) -> None:
    for other, part in zip(names.parts(), parts, strict=False):
        if part.record["metric"] != parts[0].record["metric"]:
            raise ScoredDataError(
                f"{other.record}: was scored by another metric than {names.record}, and can't be "
                "trained on together with it"
            )


def _refuse_other_dictionaries(task: Any, names: SplitNames, parts: Sequence[ScoredSplit]) -> None:
    """Refuses rows of another corpus, whose tokens mean other words here."""
    folder = Path(utils.split_paths(task.cfg.data)[0])  # that the task's own come from
    paths = [folder / f"dict.{one}.txt" for one in (names.source_lang, names.target_lang)]
    if not all(path.is_file() for path in paths):
        return
    digest = digest_of_files(paths)
    for part_names, part in zip(names.parts(), parts, strict=False):
        if part.record.get("data", {}).get("dictionaries", digest) != digest:
            raise ScoredDataError(
                f"{part_names.record}: was relabelled with other dictionaries than {paths[0]} and "
                f"{paths[1].name}; the rows are of another corpus"
            )


def _joined(parts: Sequence[Any]) -> Any:
    return ConcatDataset(parts) if len(parts) > 1 else parts[0]


def _first(parts: Sequence[ScoredSplit]) -> Any:
    """[N] from which prefix on scores count; a split of format 1 has none: from the empty one."""
    columns = [
        np.zeros(len(part.scores), np.int32) if part.rows is None else part.rows["first"]
        for part in parts
    ]
    return np.concatenate(columns) if len(columns) > 1 else columns[0]


def _similarities(parts: Sequence[ScoredSplit]) -> Any:
    """Those of all parts; parts without any stand beside others as unknown."""
    if all(part.similarities is None for part in parts):
        return None
    unknown = (UnknownSimilarities(part.sources, part.samples) for part in parts)
    of_parts = (part.similarities for part in parts)
    return _joined([known or none for known, none in zip(of_parts, unknown, strict=True)])


def split_names(task: Any, split: str, folder: str | Path) -> SplitNames:
    """The files that the split has if it has scores."""
    return SplitNames(Path(folder), split, task.cfg.source_lang, task.cfg.target_lang)
