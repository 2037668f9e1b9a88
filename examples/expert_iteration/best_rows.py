"""Keeps the best row of each source: from it a policy learns to find by itself what was searched.

python -m examples.expert_iteration.best_rows --rows FOLDER --out FOLDER
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from fairseq.data import Dictionary
from fairseq.data.data_utils import infer_language_pair

from fairseq_mcts.data.scored_folder import (
    ScoredRows,
    ScoredSplit,
    ScoredSplitWriter,
    SplitNames,
    open_scored_split,
)
from fairseq_mcts.data.source_groups import SourceGroups
from fairseq_mcts.data.token_file import TokenRows

_AT_ONCE = 1000  # rows that are copied together


class Kept(NamedTuple):
    """What was found of a split."""

    sources: int
    before: float  # mean score of all rows
    after: float  # of those that are kept


def best_rows(split: ScoredSplit) -> npt.NDArray[np.int64]:
    """[G] the row of each source with the highest score, the first of equals."""
    groups = SourceGroups.of(split.rows, len(split.scores))
    found = []
    for group in range(len(groups)):
        rows = groups.rows(group)
        found.append(rows[int(np.argmax(split.scores[rows.start : rows.stop]))])
    return np.array(found, np.int64)


def keep_best(names: SplitNames, out: SplitNames, record_of: str) -> Kept:
    """Writes the best rows of a split as a split of another folder."""
    split = open_scored_split(names)
    if split.rows is None:
        raise ValueError(f"{names.rows} is missing: each source has one row alone")
    dictionaries = [
        Dictionary.load(str(names.folder / f"dict.{language}.txt"))
        for language in (names.source_lang, names.target_lang)
    ]
    best = best_rows(split)
    writer = ScoredSplitWriter(
        out,
        len(best),
        source_vocabulary=len(dictionaries[0]),
        target_vocabulary=len(dictionaries[1]),
    )
    for begin in range(0, len(best), _AT_ONCE):
        rows = best[begin : begin + _AT_ONCE]
        sources, samples, references = (
            TokenRows.of([kind[row].numpy() for row in rows.tolist()])
            for kind in (split.sources, split.samples, split.references)
        )
        scores = split.scores[rows]
        writer.add(ScoredRows(sources, samples, references, scores, split.rows[rows]))
    known = {key: split.record[key] for key in ("metric", "methods")}
    writer.finish({**known, "best_of": record_of})
    for language in (names.source_lang, names.target_lang):
        name = f"dict.{language}.txt"
        (out.folder / name).write_bytes((names.folder / name).read_bytes())
    means = (float(np.mean(one, dtype=np.float64)) for one in (split.scores, split.scores[best]))
    return Kept(len(best), *means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=Path, required=True, help="folder with scores, as joined")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    source_lang, target_lang = infer_language_pair(str(args.rows))
    names = SplitNames(args.rows, "train", source_lang, target_lang)
    for part in [*names.parts(), SplitNames(args.rows, "valid", source_lang, target_lang)]:
        kept = keep_best(part, part.within(args.out), str(args.rows))
        print(
            f"{part.split}: {kept.sources:,} sources, mean score {kept.before:.4f} of all rows, "
            f"{kept.after:.4f} of the best"
        )


if __name__ == "__main__":
    main()
