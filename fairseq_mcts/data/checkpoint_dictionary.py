"""Whether a checkpoint was trained with the dictionaries of the task that loads it."""

from pathlib import Path
from typing import Any

from fairseq.data import Dictionary, data_utils


def dictionary_paths(folder: Path, source_lang: str, target_lang: str) -> list[Path]:
    """Where fairseq keeps the dictionaries."""
    return [folder / f"dict.{lang}.txt" for lang in (source_lang, target_lang)]


def refuse_foreign_dictionary(option: str, checkpoint: str, saved: Any, task: Any) -> None:
    """Refuses a checkpoint, given by an option, whose dictionaries are known to be others."""
    foreign = foreign_dictionary(saved, task)
    if foreign is not None:
        raise ValueError(
            f"{option} {checkpoint}: was trained with {foreign}, which is not the dictionary of "
            "the data"
        )


def foreign_dictionary(saved: Any, task: Any) -> Path | None:
    """The file of the first dictionary of a checkpoint's configuration that is not the task's.

    A dictionary of the same size fits the weights but means other words. Checkpoints hold no
    dictionary, but the folder that they were trained on: if that is gone, nothing can be said.
    """
    folder = Path(str(getattr(saved.task, "data", None) or "").split(":")[0])
    source_lang = getattr(saved.task, "source_lang", None)
    target_lang = getattr(saved.task, "target_lang", None)
    if folder.is_dir() and (source_lang is None or target_lang is None):
        source_lang, target_lang = data_utils.infer_language_pair(str(folder))
    if source_lang is None or target_lang is None:
        return None
    paths = dictionary_paths(folder, source_lang, target_lang)
    ours = (task.source_dictionary, task.target_dictionary)
    for path, dictionary in zip(paths, ours, strict=True):
        if path.is_file() and Dictionary.load(str(path)) != dictionary:
            return path
    return None
