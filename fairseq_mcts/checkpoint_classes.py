"""The classes that fairseq checkpoints are known to hold, which torch's safe loading may let in."""

import argparse
import collections
import io
import pickle
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def allow_fairseq_checkpoints() -> bool:
    """Lets the classes in; False if this torch can't be told so, as it can't before 2.4.

    Whether it can is tried, as later versions let in some kinds of objects and not others.
    """
    if hasattr(torch.serialization, "add_safe_globals"):
        torch.serialization.add_safe_globals(_classes_in_fairseq_checkpoints())
    checkpoint = io.BytesIO()
    torch.save({"args": argparse.Namespace(best=np.float64(0.5))}, checkpoint)
    checkpoint.seek(0)
    try:
        torch.load(checkpoint, weights_only=True)
    except pickle.UnpicklingError:
        return False
    return True


def _classes_in_fairseq_checkpoints() -> list[Any]:
    """All that they hold beside tensors and plain containers."""
    from fairseq.distributed.utils import _TensorPlaceholder
    from omegaconf import DictConfig, ListConfig, base, nodes

    # Command lines: `args` of old checkpoints, `cfg.model` of new ones.
    classes: list[Any] = [argparse.Namespace]
    # `cfg` of checkpoints from fairseq 0.10, kept as an OmegaConf tree.
    classes += [DictConfig, ListConfig, base.Metadata, base.ContainerMetadata]
    classes += [nodes.AnyNode, nodes.StringNode, nodes.IntegerNode, nodes.FloatNode]
    classes += [nodes.BooleanNode, collections.defaultdict, dict, list, tuple, str, int, float]
    classes += [bool, typing.Any]
    # Sums and counts of the meters (BLEU during validation); numpy 1 has them at another address.
    classes += [np.ndarray, np.dtype]
    reconstruct, scalar = np.empty(0).__reduce__()[0], np.float64(0).__reduce__()[0]
    for package in ("numpy._core", "numpy.core"):
        classes.append(_renamed(reconstruct, f"{package}.multiarray", "_reconstruct"))
        classes.append(_renamed(scalar, f"{package}.multiarray", "scalar"))
    classes += [type(np.dtype(kind)) for kind in ("bool", "int32", "int64", "float32", "float64")]
    # Not in files: what stands for tensors when rank 0 sends a checkpoint to the other ranks.
    classes.append(_TensorPlaceholder)
    return classes


def _renamed(function: Any, module: str, name: str) -> Callable[..., Any]:
    """The function under the address that files know; torch takes pairs for that from 2.6 only."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    call.__module__, call.__name__, call.__qualname__ = module, name, name
    return call
