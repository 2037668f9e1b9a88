"""Loads checkpoints, and explains what is wrong with those that don't fit the task."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.data import Dictionary, data_utils

from fairseq_mcts.models.network import Network


class CheckpointError(ValueError):
    """A file that is missing, damaged or of another vocabulary; begins with option and file."""


def require_files(option: str, paths: Iterable[str | Path]) -> None:
    """Refuses files that do not exist; `option` is the one that names them."""
    for path in paths:
        if not Path(path).is_file():
            raise CheckpointError(f"{option} {path}: no such file")


def load_models(
    option: str,
    paths: Iterable[str | Path],
    task: Any,
    *,
    overrides: Mapping[str, Any] | None = None,
) -> list[Network]:
    """The models of all checkpoints; see `load_model`."""
    return [load_model(option, path, task, overrides=overrides)[0] for path in paths]


def load_model(
    option: str,  # that names the file, as "--path"
    path: str | Path,
    task: Any,
    *,
    overrides: Mapping[str, Any] | None = None,  # of --model-overrides; None: no such option
) -> tuple[Network, Any]:
    """The model of a checkpoint, and the configuration that was saved with it."""
    require_files(option, [path])
    try:
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path), dict(overrides or {}))
        fault = _other_vocabulary(state["model"], task)
        if fault is None:
            [model], saved = checkpoint_utils.load_model_ensemble(
                [str(path)], task=task, state=state
            )
            fault = _other_dictionary(saved, task)
            if fault is not None and overrides is not None:
                fault += (
                    ". If that folder has changed since the training, point to another one by "
                    "--model-overrides \"{'data': 'FOLDER'}\""
                )
    except Exception as error:  # a file that is no checkpoint fails in any way
        raise CheckpointError(f"{option} {path}: can't be loaded: {error!r}") from error
    if fault is not None:
        raise CheckpointError(f"{option} {path}: {fault}")
    return model, saved


def _other_vocabulary(weights: Mapping[str, Any], task: Any) -> str | None:
    """What tells that the embeddings are not of as many types as the task's dictionaries have."""
    sides = {"encoder": task.source_dictionary, "decoder": task.target_dictionary}
    for side, dictionary in sides.items():
        embeddings = weights.get(f"{side}.embed_tokens.weight")
        if embeddings is not None and len(embeddings) != len(dictionary):
            return (
                f"its {side} has a vocabulary of {len(embeddings)} types, but the dictionary of "
                f"the data has {len(dictionary)}"
            )
    return None


def _other_dictionary(saved: Any, task: Any) -> str | None:
    """What tells that the dictionaries of a checkpoint's configuration are not the task's.

    A dictionary of the same size fits the weights but means other words. Checkpoints hold no
    dictionary, but the folder that they were trained on: if that is gone, nothing can be said.
    """
    folder = Path(str(getattr(saved.task, "data", None) or "").split(":")[0])
    languages = [getattr(saved.task, name, None) for name in ("source_lang", "target_lang")]
    if folder.is_dir() and None in languages:
        languages = data_utils.infer_language_pair(str(folder))
    if None in languages:
        return None
    dictionaries = (task.source_dictionary, task.target_dictionary)
    for language, dictionary in zip(languages, dictionaries, strict=True):
        path = folder / f"dict.{language}.txt"
        if path.is_file() and Dictionary.load(str(path)) != dictionary:
            return f"was trained with {path.resolve()}, which is not the dictionary of the data"
    return None
