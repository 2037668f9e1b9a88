"""Loads checkpoints, and explains what is wrong with those that don't fit the task."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.data import Dictionary, data_utils
from omegaconf import DictConfig

from fairseq_mcts.checkpoint_fit import other_vocabulary
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.whole_config import beside

#: what is wrong with a model that `holds_only_a_value`, where a policy is needed
NO_POLICY = (
    "holds only a value, trained with --policy-weight 0 and without --freeze-policy: its "
    "translations mean nothing. A search takes it as --value-path, beside the --path of a policy"
)
#: what a user can do about a folder that is no longer that of the training
OTHER_FOLDER = (
    ". If that folder has changed since the training, point to another one by "
    "--model-overrides \"{'data': 'FOLDER'}\""
)


class CheckpointError(ValueError):
    """A file that is missing, damaged or of another vocabulary; begins with option and file."""


def require_files(option: str, paths: Iterable[str | Path]) -> None:
    """Refuses files that do not exist; `option` is the one that names them."""
    for path in paths:
        if not Path(path).is_file():
            raise CheckpointError(f"{option} {path}: no such file")


def holds_only_a_value(cfg: Any) -> bool:
    """Whether a model of this configuration is trained without a policy in it.

    `cfg` is the model's part of a whole configuration: beside it stands how the criterion weighs
    the policy. With no weight the layers that it shares with the value forget it, unless frozen.
    """
    return beside(cfg, "criterion.policy_weight") == 0 and not getattr(cfg, "freeze_policy", False)


def has_untrained_value(cfg: Any) -> bool:
    """Whether the value head of a model of this configuration has learned nothing."""
    return beside(cfg, "criterion.value_weight") == 0


def load_models(
    option: str,
    paths: Iterable[str | Path],
    task: Any,
    *,
    overrides: Mapping[str, Any] | None = None,
    needs_policy: bool = False,
) -> list[Network]:
    """The models of all checkpoints; see `load_model`."""
    each = [
        load_model(option, path, task, overrides=overrides, needs_policy=needs_policy)
        for path in paths
    ]
    return [model for model, _ in each]


def load_model(
    option: str,  # that names the file, as "--path"
    path: str | Path,
    task: Any,
    *,
    overrides: Mapping[str, Any] | None = None,  # of --model-overrides; None: no such option
    needs_policy: bool = False,  # refuses a model that holds only a value
) -> tuple[Network, Any]:
    """The model of a checkpoint, and the configuration that was saved with it."""
    require_files(option, [path])
    try:
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path), dict(overrides or {}))
        fault = other_vocabulary(state["model"], task)
        if fault is None:
            [model], saved = checkpoint_utils.load_model_ensemble(
                [str(path)], task=task, state=state
            )
            fault = _other_dictionary(saved.task, task)
            if fault is not None and overrides is not None:
                fault += OTHER_FOLDER
            if fault is None and needs_policy and holds_only_a_value(saved.model):
                fault = NO_POLICY
    except Exception as error:  # a file that is no checkpoint fails in any way
        raise CheckpointError(f"{option} {path}: can't be loaded: {error!r}") from error
    if fault is not None:
        raise CheckpointError(f"{option} {path}: {fault}")
    return model, saved


def other_dictionary(cfg: Any, task: Any) -> str | None:
    """What tells that a model was trained with other dictionaries than the task's.

    `cfg` is the model's part of a checkpoint's configuration, beside which stands the task's; of
    old checkpoints it is the whole command line.
    """
    saved = beside(cfg, "task") if isinstance(cfg, DictConfig) else cfg
    fault = _other_dictionary(saved, task)
    return None if fault is None else fault + OTHER_FOLDER


def _other_dictionary(saved: Any, task: Any) -> str | None:
    """What tells that the dictionaries of a saved task are not those of this one.

    A dictionary of the same size fits the weights but means other words. Checkpoints hold no
    dictionary, but the folder that they were trained on: if that is gone, nothing can be said.
    """
    folder = Path(str(getattr(saved, "data", None) or "").split(":")[0])
    languages = [getattr(saved, name, None) for name in ("source_lang", "target_lang")]
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
