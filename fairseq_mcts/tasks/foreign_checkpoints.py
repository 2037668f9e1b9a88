"""Checkpoints of other tasks and architectures: what is wrong with them, and what to do instead.

fairseq itself ends with a list of tensors whose names or shapes do not match.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils

from fairseq_mcts.models.multiquery_transformer import MultiQueryTransformerModel
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.whole_config import beside

_TAGS = "marks languages by tokens that its own task adds to sources, targets and dictionaries"
#: tasks whose models can't be asked by the task translation_mcts
UNSUPPORTED_TASKS: dict[str, str] = {
    **dict.fromkeys(
        (
            "translation_multi_simple_epoch",
            "multilingual_translation",
            "multilingual_translation_latent_depth",
            "translation_from_pretrained_bart",
            "online_backtranslation",
            "semisupervised_translation",
        ),
        _TAGS,
    ),
    "translation_lev": "edits whole sentences instead of writing them from left to right",
    "translation_moe": "is a mixture of experts, each chosen by a token of its own",
}


def task_of_checkpoint(cfg: Any) -> str | None:
    """The task that a model was trained with, by the model's part of its configuration."""
    # the command line of a fairseq before 0.10 has its name among all options
    name = beside(cfg, "task._name") or getattr(cfg, "task", None)
    return None if name is None else str(name)


def refuse_tagged_languages(cfg: Any) -> None:
    """Refuses a model of a task that reads or writes other tokens than this one."""
    name = task_of_checkpoint(cfg)
    if name in UNSUPPORTED_TASKS:
        raise ValueError(
            f"--path: the checkpoint was trained with --task {name}, which "
            f"{UNSUPPORTED_TASKS[name]}; --task translation_mcts can't decode it. Use fairseq's "
            f"own --task {name}, or a model of one language pair"
        )


def refuse_unfit_weights(cfg: Any, model: Network) -> None:
    """Refuses a --finetune-from-model whose weights no multi-query transformer can take."""
    if not isinstance(model, MultiQueryTransformerModel):
        return
    path = beside(cfg, "checkpoint.finetune_from_model")
    if path is None or not Path(path).is_file():  # fairseq says so itself
        return
    state = checkpoint_utils.load_checkpoint_to_cpu(str(path))
    fault = _first_difference(state["model"], model.state_dict())
    if fault is not None:
        raise ValueError(
            f"--finetune-from-model {path}: holds a {_architecture(state)}, which does not fit "
            f"--arch {cfg._name} ({fault}). To give this policy a value as it is, train --arch "
            f"policy_with_value --policy-path {path} --freeze-policy; or relabel with it and train "
            f"--arch {cfg._name} anew"
        )


def _first_difference(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """In what the weights differ, but for a value head, which may be new."""
    for name, tensor in wanted.items():
        if ".value_head." in name:
            continue
        if name not in given:
            return f"it has no {name}"
        if given[name].shape != tensor.shape:
            return f"{name} is {tuple(given[name].shape)} there, {tuple(tensor.shape)} here"
    return None


def _architecture(state: Mapping[str, Any]) -> str:
    model = state["cfg"].model
    name = getattr(model, "arch", None) or getattr(model, "_name", None)
    return str(name)
