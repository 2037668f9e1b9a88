"""The binarised corpus that is relabelled: sources and references of one split."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from fairseq.data import data_utils, indexed_dataset
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from fairseq_mcts.data.files import complete_file, digest_of_files
from fairseq_mcts.data.loading import split_names
from fairseq_mcts.data.scored_folder import SplitNames
from fairseq_mcts.data.token_checks import check_split, load_dictionary, vocabularies_of
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.work import Settings, explained_if_full


class SourceRange(NamedTuple):
    """Rows of a corpus: from `begin` up to `end`, which is the first that is left out."""

    begin: int
    end: int


@dataclass(frozen=True)
class Corpus:
    """Sources and references of the split that is made; row i of both belong together."""

    split: str
    files: Sequence[Path]  # that hold the sentences
    sources: Any  # fairseq's indexed datasets, or what can stand for them
    references: Any
    rows: range  # those that are relabelled
    is_text: bool = False  # whether it is plain text, where lines may be empty

    def digest(self) -> str:
        """A digest of all sentences."""
        return digest_of_files(self.files)

    def lengths(self, rows: range) -> npt.NDArray[np.int64]:
        """Of the sources of these rows, eos counted."""
        if self.is_text:
            return np.asarray(self.sources.lengths(rows))
        return np.asarray(self.sources.sizes[rows.start : rows.stop])

    def fitting(self, rows: range, positions: int) -> npt.NDArray[np.int64]:
        """Those of these rows that an encoder of so many positions can read."""
        return rows.start + np.flatnonzero(self._fits(rows, positions))

    def _fits(self, rows: range, positions: int) -> npt.NDArray[np.bool_]:  # [R]
        sizes = self.lengths(rows)
        return (sizes <= positions) & (sizes >= self._least)

    @property
    def _least(self) -> int:
        return 2 if self.is_text else 0  # an eos alone is an empty line

    def refuse_unfit(self, positions: int) -> None:
        """Refuses a corpus with sources that an encoder of so many positions can't read."""
        doubtful = [self.rows]
        if self.is_text:
            doubtful = self.sources.blocks_beyond(self.rows, self._least, positions)
        unfit = [some.start + np.flatnonzero(~self._fits(some, positions)) for some in doubtful]
        rows = np.concatenate([*unfit, np.zeros(0, np.int64)])
        if not len(rows):
            return
        [size] = self.lengths(range(rows[0], rows[0] + 1))
        what = f"are longer than the policy's {positions} positions"
        if self.is_text:
            what = f"are empty or {what.removeprefix('are ')}"
        raise RelabellingError(
            f"{self.split}: {len(rows):,} sources {what}, the first in row {rows[0]} with {size} "
            "tokens; --skip-too-long leaves them out"
        )


def dictionary_paths(folder: Path, source_lang: str, target_lang: str) -> list[Path]:
    """Where fairseq keeps the dictionaries."""
    return [folder / f"dict.{language}.txt" for language in (source_lang, target_lang)]


def open_task(folder: Path, source_lang: str | None, target_lang: str | None) -> TranslationTask:
    """fairseq's translation task for the folder, with its languages and dictionaries."""
    if not folder.is_dir():
        raise RelabellingError(f"{folder}: no such folder")
    if source_lang is None or target_lang is None:
        source_lang, target_lang = data_utils.infer_language_pair(str(folder))
    if source_lang is None or target_lang is None:
        raise RelabellingError(
            f"{folder}: its files do not tell the languages; give --source-lang and --target-lang"
        )
    for path in dictionary_paths(folder, source_lang, target_lang):
        if not path.is_file():
            raise RelabellingError(f"{path} is missing: the dictionary of the data")
        load_dictionary(str(path))
    return TranslationTask.setup_task(
        TranslationConfig(data=str(folder), source_lang=source_lang, target_lang=target_lang)
    )


def open_corpus(
    task: TranslationTask, folder: Path, split: str, made: str, limit: SourceRange | None = None
) -> Corpus:
    """The sentences of a split, in the order of the files, which are to be the split `made`."""
    names = split_names(task, split, folder)
    source_lang, target_lang = names.source_lang, names.target_lang
    if names.has_scores():
        raise RelabellingError(
            f"{names.score} exists: {folder} is relabelled already, its targets are samples; give "
            "the data that it was made from"
        )
    for pair in (f"{source_lang}-{target_lang}", f"{target_lang}-{source_lang}"):
        prefix = folder / f"{split}.{pair}."
        if indexed_dataset.dataset_exists(f"{prefix}{source_lang}", impl=None):
            break
    else:
        raise RelabellingError(
            f"--subset {split}: {folder} has no {split}.{source_lang}-{target_lang}.{source_lang}"
        )
    if not indexed_dataset.dataset_exists(f"{prefix}{target_lang}", impl=None):
        raise RelabellingError(f"{prefix}{target_lang}: the references are missing")
    check_split(folder, split, vocabularies_of(task, (source_lang, target_lang)))
    sources = data_utils.load_indexed_dataset(f"{prefix}{source_lang}", task.source_dictionary)
    references = data_utils.load_indexed_dataset(f"{prefix}{target_lang}", task.target_dictionary)
    if len(sources) != len(references):
        raise RelabellingError(
            f"{prefix}{source_lang} has {len(sources)} rows, {prefix}{target_lang} has "
            f"{len(references)}"
        )
    if not len(sources):
        raise RelabellingError(f"{prefix}{source_lang} has no rows")
    empty = np.flatnonzero(np.asarray(sources.sizes) == 0)
    if len(empty):
        raise RelabellingError(f"{prefix}{source_lang}: row {empty[0]} has not even an eos")
    rows = range(len(sources)) if limit is None else range(len(sources))[limit.begin : limit.end]
    if not len(rows):
        raise RelabellingError(f"--limit-sources: {prefix}{source_lang} has {len(sources)} rows")
    files = [
        Path(f"{prefix}{language}{ending}")
        for language in (source_lang, target_lang)
        for ending in ("", ".idx", ".bin")  # the first is raw text
    ]
    return Corpus(made, [path for path in files if path.is_file()], sources, references, rows)


def corpus_settings(corpus: Corpus, task: TranslationTask, folder: Path) -> Settings:
    """The corpus as far as a result depends on it."""
    languages = {"source_lang": task.cfg.source_lang, "target_lang": task.cfg.target_lang}
    return {
        "split": corpus.split,
        **languages,
        "data": {
            "digest": corpus.digest(),
            "monolingual": corpus.is_text,
            "dictionaries": digest_of_files(dictionary_paths(folder, **languages)),
            "first_row": corpus.rows.start,
            "rows": len(corpus.rows),
            "source_vocabulary": len(task.source_dictionary),
            "target_vocabulary": len(task.target_dictionary),
        },
    }


def copy_dictionaries(names: SplitNames, source: Path, written_in: Path) -> None:
    """Puts the dictionaries of folder `source` beside a split; other ones there are refused."""
    languages = (names.source_lang, names.target_lang)
    originals = dictionary_paths(source, *languages)
    copies = dictionary_paths(names.folder, *languages)
    for path, copy in zip(originals, copies, strict=True):
        content = path.read_bytes()
        if not copy.exists():
            with (
                explained_if_full(names.folder),
                complete_file(copy, written_in=written_in) as stream,
            ):
                stream.write(content)
        elif copy.read_bytes() != content:
            raise RelabellingError(f"{copy} differs from {path}: give --out a folder of its own")
