"""Checkpoints in the formats of older fairseqs, made of new ones."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf

#: options that came after fairseq 0.9
NEW_OPTIONS = (
    *("quant_noise", "checkpoint_activations", "offload_activations", "base_", "export", "mcts_"),
    *("min_params_to_wrap", "char_inputs", "no_decoder_final_norm", "simul_type", "vgbs_", "sr_"),
    *("mbr_", "search", "value_", "cheating_value", "eval_search", "rows_per_source", "beam_"),
)


def save_as_namespace(source: Path, target: Path, **changes: Any) -> Path:
    """As fairseq 0.9 saved it: all options in one Namespace, no output projection of its own."""
    state = torch.load(source, weights_only=False)
    options = _options(state["cfg"])
    old = {name: value for name, value in options.items() if not name.startswith(NEW_OPTIONS)}
    weights = {
        name: tensor
        for name, tensor in state["model"].items()
        if name != "decoder.output_projection.weight"
    }
    weights["decoder.version"] = torch.tensor([3.0])
    torch.save(
        {
            "args": Namespace(**{**old, "task": "translation", **changes}),
            "model": weights,
            "optimizer_history": state["optimizer_history"],
            "extra_state": state["extra_state"],
            "last_optimizer_state": None,
        },
        target,
    )
    return target


def save_as_tree(source: Path, target: Path, **task: Any) -> Path:
    """As fairseq 0.10 to 0.12 saved it: the configuration as OmegaConf's own object."""
    state = _trained_with(source, task)
    state["cfg"] = OmegaConf.create(state["cfg"], flags={"allow_objects": True})
    torch.save(state, target)
    return target


def save_as_container(source: Path, target: Path, **task: Any) -> Path:
    """As fairseq's main branch saves it: the configuration in plain dictionaries."""
    torch.save(_trained_with(source, task), target)
    return target


def _trained_with(source: Path, task: dict[str, Any]) -> Any:
    """The content of a checkpoint, with other options of the task."""
    state = torch.load(source, weights_only=False)
    state["cfg"]["task"].update(task)
    # a model that still has a command line holds everything a second time
    state["cfg"]["model"].task = state["cfg"]["task"]["_name"]
    return state


def _options(cfg: dict[str, Any]) -> dict[str, Any]:
    """Those of a model that still has a command line, which hold everything."""
    model = cfg["model"]
    assert isinstance(model, Namespace)
    return dict(vars(model))
