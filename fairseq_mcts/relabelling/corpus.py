"""The binarised corpus that is relabelled: sources and references of one split."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import data_utils, indexed_dataset
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from fairseq_mcts.data.files import complete_file, digest_of_files
from fairseq_mcts.data.loading import split_names
from fairseq_mcts.data.scored_folder import SplitNames
from fairseq_mcts.relabelling.settings import RelabellingError, Settings


@dataclass(frozen=True)
class Corpus:
    """One split; row i of sources and references belong together."""

    names: SplitNames
    prefix: Path  # files begin with it, and the language follows
    sources: Any  # fairseq's indexed datasets
    references: Any

    def __len__(self) -> int:
        return len(self.sources)

    def digest(self) -> str:
        """A digest of all sentences."""
        files = [
            Path(f"{self.prefix}{language}{ending}")
            for language in (self.names.source_lang, self.names.target_lang)
            for ending in ("", ".idx", ".bin")  # the first is raw text
        ]
        return digest_of_files(path for path in files if path.is_file())

    def refuse_too_long(self, positions: int) -> None:
        """Refuses sources that do not fit into an encoder of so many positions."""
        rows = np.flatnonzero(np.asarray(self.sources.sizes) > positions)
        if len(rows):
            raise RelabellingError(
                f"{self.names.split}: {len(rows):,} sources are longer than the policy's "
                f"{positions} positions, the first in row {rows[0]} with "
                f"{self.sources.sizes[rows[0]]} tokens; --skip-too-long leaves them out"
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
    return TranslationTask.setup_task(
        TranslationConfig(data=str(folder), source_lang=source_lang, target_lang=target_lang)
    )


def open_corpus(task: TranslationTask, folder: Path, split: str) -> Corpus:
    """The sentences of a split, in the order of the files."""
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
    return Corpus(names, prefix, sources, references)


def corpus_settings(corpus: Corpus, task: TranslationTask, folder: Path) -> Settings:
    """The corpus as far as a result depends on it."""
    languages = {lang: getattr(corpus.names, lang) for lang in ("source_lang", "target_lang")}
    return {
        "split": corpus.names.split,
        **languages,
        "data": {
            "digest": corpus.digest(),
            "dictionaries": digest_of_files(dictionary_paths(folder, **languages)),
            "rows": len(corpus),
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
            with complete_file(copy, written_in=written_in) as stream:
                stream.write(content)
        elif copy.read_bytes() != content:
            raise RelabellingError(f"{copy} differs from {path}: give --out a folder of its own")
