"""Files that do something when they are loaded without care: each leaves a mark if it is run."""

from __future__ import annotations

import os
import pickle
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import torch


class Intruder:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._mark),)


def pickled(mark: Path) -> bytes:
    """A plain pickle."""
    return pickle.dumps(Intruder(mark))


def save_checkpoint(path: Path, mark: Path) -> Path:
    """A checkpoint of torch with an intruder beside the weights."""
    torch.save({"model": {}, "cfg": None, "args": None, "extra_state": Intruder(mark)}, path)
    return path


def save_configuration(path: Path, mark: Path) -> Path:
    """A checkpoint of allowed classes alone, whose configuration fairseq would run as Python."""
    from fairseq.models.fconv import base_architecture

    args = Namespace(arch="fconv", task="translation", encoder_layers=_layers(mark))
    base_architecture(args)
    args.max_source_positions = args.max_target_positions = 50
    return _save_model(path, args)


def save_language_model(path: Path, mark: Path) -> Path:
    """The same of a language model, whose dictionary is beside it."""
    from fairseq.models.fconv_lm import base_lm_architecture

    data = str(path.parent)
    args = Namespace(arch="fconv_lm", task="language_modeling", data=data, tokens_per_sample=50)
    args.decoder_layers = _layers(mark)
    base_lm_architecture(args)
    return _save_model(path, args)


def _layers(mark: Path) -> str:
    return f"__import__('os').mkdir({str(mark)!r}) or [(32, 3)]"


def _save_model(path: Path, args: Namespace) -> Path:
    state = {
        "args": args,
        "model": {},
        "optimizer_history": [{"optimizer_name": "", "lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": None},
    }
    torch.save(state, path)
    return path


def object_array(mark: Path) -> Any:
    """An array of numpy that holds an intruder: only a pickle can hold it."""
    array = np.empty(1, object)
    array[0] = Intruder(mark)
    return array
