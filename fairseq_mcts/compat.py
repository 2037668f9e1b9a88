"""What fairseq needs to run on Python 3.11, numpy 2 and torch 2.13, in one place.

The plugin calls `apply` when it registers, so every fairseq command with `--user-dir` has the
fixes. Each `Fix` first looks whether this installation has its fault at all: a fairseq or torch
without it stays as it is, and a second `apply` finds nothing to do. fairseq's files are never
touched. The faults that are mended:

checkpoints-load-safely: torch from 2.6 on refuses every fairseq checkpoint for the Namespace in it;
    fairseq's main branch and an older torch load it unsafely. Here loading is safe with all: the
    classes that fairseq checkpoints hold are allowed, others refused by name.
configurations-are-not-run: some options are Python text, which fairseq runs by `eval` when it
    builds a model: that of a checkpoint could do anything. Literals, which they are, are read as
    such, and all else is refused.
last-batch-is-kept: batch_by_size drops a last batch whose size is no multiple of
    --required-batch-size-multiple (8): 40 of 41 lines are translated, fewer than 8 fail.
bf16-without-tpu: fairseq-train takes --bf16 as a request for a TPU and crashes without torch_xla,
    on GPUs and CPUs alike.
workers-gather-any-data: all_gather_list, by which workers exchange logs that can't be summed, needs
    a GPU even in training on CPUs and takes 16 KiB, less than the values of a validation batch.
torchrun-trains-one-job: processes of torchrun that are more than the GPUs fairseq sees of itself
    train alone, each, and write to one folder; on CPUs they fail even if told of one another.
named-task-is-used: from_pretrained(…, task=NAME) is ignored, and the task of the checkpoint is
    taken whatever the name.
no-warning-noise: outdated calls of torch and hydra print warnings that no user can act on, and one
    of fairseq's models turns on the debug messages of every library.
"""

import argparse
import collections
import collections.abc
import contextlib
import functools
import logging
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fairseq_mcts.checkpoint_classes import allow_fairseq_checkpoints
from fairseq_mcts.checkpoint_fit import other_vocabulary
from fairseq_mcts.literals import NotLiteralError, evaluate

TRUSTED_CHECKPOINTS = "FAIRSEQ_MCTS_TRUSTED_CHECKPOINTS"
"""Environment variable: checkpoint files whose content may run code, separated by `:`."""

TORCH_UNSAFE_LOADING = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
"""torch's own switch: safe loading off, for every file of the process."""

TORCH_SAFE_LOADING = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
"""The opposite switch, which wins over callers who ask for unsafe loading."""


class UnsafeCheckpointError(pickle.UnpicklingError):
    """A checkpoint holds objects that fairseq never puts there; loading them could run code."""


class DamagedCheckpointError(ValueError, pickle.UnpicklingError):
    """A file that holds no checkpoint, or half of one."""


@dataclass(frozen=True)
class Fix:
    """How to mend a fault of the environment in the running process."""

    name: str  # as in the list above
    is_needed: Callable[[], bool]
    mend: Callable[[], None]


def apply() -> list[str]:
    """Mends what is broken here and returns the names of the fixes that were needed."""
    import_fairseq()
    needed = [fix for fix in FIXES if fix.is_needed()]
    for fix in needed:
        fix.mend()
    return [fix.name for fix in needed]


def import_fairseq() -> Any:
    """The module fairseq, without the root logger that some of its modules configure.

    Under fairseq's own commands fairseq is imported long before the plugin: nothing happens then.
    """
    loaded = sys.modules.get("fairseq")
    if loaded is not None:
        return loaded
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    # With a handler in place `logging.basicConfig` does nothing, and INFO advice stays unheard.
    root.addHandler(logging.NullHandler())
    try:
        import fairseq
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    return fairseq


# ---------------------------------------------------------------- checkpoints under safe loading


def _loads_as_fairseq_does() -> bool:
    """Whether nobody takes care, and the user has not asked for that by torch's own switch.

    What torch does if nothing is said plays no part: before 2.6 it loads everything, unsafely.
    """
    from fairseq import checkpoint_utils

    load = checkpoint_utils.load_checkpoint_to_cpu
    asks_for_it = os.environ.get(TORCH_UNSAFE_LOADING, "").lower() in ("1", "y", "yes", "true")
    return not asks_for_it and not hasattr(load, "__wrapped__")


def _load_checkpoints_safely() -> None:
    from fairseq import checkpoint_utils

    are_allowed = allow_fairseq_checkpoints()
    load = checkpoint_utils.load_checkpoint_to_cpu

    @functools.wraps(load)
    def load_checkpoint_to_cpu(path: str, *args: Any, **kwargs: Any) -> Any:
        try:
            with _safe_loading_unless_trusted(path):
                state = load(path, *args, **kwargs)
        except pickle.UnpicklingError as error:
            raise _explained(path, error, are_allowed) from error
        except (EOFError, RuntimeError, LookupError, AttributeError, TypeError) as error:
            raise _damaged(path, error) from error
        except OSError as error:
            if error.filename is not None or not Path(path).is_file():
                raise  # which file can't be had is said already
            raise _damaged(path, error) from error  # torch seeks beyond the begin of small ones
        if _is_trusted(path):
            _trusted_texts.update(_texts_in([state.get("args"), state.get("cfg")]))
        _read_literals_instead_of_eval()  # of modules too that came after the plugin
        return state

    checkpoint_utils.load_checkpoint_to_cpu = load_checkpoint_to_cpu


@contextlib.contextmanager
def _safe_loading_unless_trusted(path: str) -> Iterator[None]:
    switches = (TORCH_SAFE_LOADING, TORCH_UNSAFE_LOADING)
    before = {name: os.environ.pop(name, None) for name in switches}
    os.environ[TORCH_UNSAFE_LOADING if _is_trusted(path) else TORCH_SAFE_LOADING] = "1"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _is_trusted(path: str) -> bool:
    trusted = os.environ.get(TRUSTED_CHECKPOINTS, "").split(os.pathsep)
    return Path(path).resolve() in [Path(name).resolve() for name in trusted if name]


def _damaged(path: str, error: Exception) -> DamagedCheckpointError:
    what = f"{type(error).__name__}: {error}".partition("\n")[0].partition(". ")[0]
    return DamagedCheckpointError(f"{path}: is no whole checkpoint ({what})")


#: how torch names what it refuses; before 2.4 by the second of these
_REFUSED = re.compile(r"(?:GLOBAL `?|nsupported class (?:<class ')?)([\w.]+)")


def _explained(
    path: str, error: pickle.UnpicklingError, are_allowed: bool
) -> pickle.UnpicklingError:
    """Says which class was refused and what a user who trusts the file can do."""
    found = _REFUSED.search(str(error))
    if found is None:  # a damaged file rather than a forbidden class
        return _damaged(path, error)
    why = "which fairseq checkpoints do not contain"
    if not are_allowed:
        why = f"and torch {torch.__version__} can't be told what fairseq checkpoints contain"
    return UnsafeCheckpointError(
        f"{path} holds an object of {found.group(1)}, {why}; "
        "loading it could run code from the file. If you trust where the file comes from, allow "
        f"it by name: {TRUSTED_CHECKPOINTS}={path}"
    )


# ----------------------------------------------------------------- options that are Python text

#: options of checkpoints that a user trusts by name
_trusted_texts: set[str] = set()


def _evaluates_text() -> bool:
    return any(module.__dict__.get("eval") is not _literal for module in _fairseq_modules())


def _read_literals_instead_of_eval() -> None:
    """Hides the builtin from all modules of fairseq: a module's own names come first."""
    for module in _fairseq_modules():
        module.__dict__["eval"] = _literal


def _fairseq_modules() -> list[Any]:
    loaded = list(sys.modules.items())
    return [module for name, module in loaded if name.split(".")[0] == "fairseq" and module]


def _literal(text: str, *_: Any) -> Any:
    """What fairseq's modules take for `eval`."""
    if not isinstance(text, str):
        raise TypeError(f"an option that is Python text, not {type(text).__name__}")
    if text in _trusted_texts:
        return eval(text)
    try:
        return evaluate(text)
    except NotLiteralError as error:
        raise UnsafeCheckpointError(
            f"the configuration holds the Python text {text!r}, which is more than literals: "
            "running it could do anything. If it comes from a checkpoint that you trust, allow "
            f"that by name: {TRUSTED_CHECKPOINTS}=FILE"
        ) from error


def _texts_in(node: Any) -> Iterator[str]:
    """All strings of a configuration."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, argparse.Namespace):
        yield from _texts_in(vars(node))
    elif isinstance(node, collections.abc.Mapping):
        for key in node:
            # what is missing or interpolated is no text
            with contextlib.suppress(Exception):
                yield from _texts_in(node[key])
    elif isinstance(node, (list, tuple)):
        for one in node:
            yield from _texts_in(one)


# ------------------------------------------------------------------------------- the last batch


def _batch_by_size_drops_the_rest() -> bool:
    from fairseq.data import data_utils

    lengths = np.ones(3, dtype=np.int64)
    batches = data_utils.batch_by_size(
        np.arange(3), None, lengths, max_tokens=100, required_batch_size_multiple=2
    )
    return sum(map(len, batches)) < 3


def _keep_the_last_batch() -> None:
    from fairseq.data import data_utils

    batch_by_size = data_utils.batch_by_size

    @functools.wraps(batch_by_size)
    def batch_by_size_without_loss(indices: Any, *args: Any, **kwargs: Any) -> Any:
        indices = np.asarray(indices if hasattr(indices, "__len__") else list(indices))
        if not len(indices):  # fairseq looks at the last of no batches
            return []
        batches = list(batch_by_size(indices, *args, **kwargs))
        if kwargs.get("fixed_shapes") is None:
            # Batches follow the order of the indices, so what is missing is the end.
            rest = indices[sum(map(len, batches)) :]
            if len(rest):
                batches.append(rest)
        return batches

    data_utils.batch_by_size = batch_by_size_without_loss


# ------------------------------------------------------------------------------ bf16 without TPU


def _bf16_means_tpu() -> bool:
    from fairseq import utils
    from fairseq.trainer import Trainer

    return utils.xm is None and not hasattr(Trainer.__init__, "__wrapped__")


def _train_bf16_on_the_device_there_is() -> None:
    from fairseq.trainer import Trainer

    build = Trainer.__init__

    @functools.wraps(build)
    def build_trainer(self: Any, cfg: Any, *args: Any, **kwargs: Any) -> None:
        if cfg.common.bf16:
            cfg.common.tpu = False
        build(self, cfg, *args, **kwargs)

    Trainer.__init__ = build_trainer


# ------------------------------------------------------------------- what workers tell each other


def _gathers_by_cuda_buffers() -> bool:
    from fairseq import utils
    from fairseq.distributed import utils as distributed

    return utils.xm is None and distributed.all_gather_list.__module__ != __name__


def _gather_anything_on_any_device() -> None:
    from fairseq import utils
    from fairseq.distributed import utils as distributed

    def all_gather_list(data: Any, group: Any = None, max_size: int = 0) -> list[Any]:
        """The data of all workers, by rank; `max_size` was the size of fairseq's buffer."""
        group = distributed.get_global_group() if group is None else group
        gathered: list[Any] = [None] * distributed.get_world_size(group=group)
        torch.distributed.all_gather_object(gathered, utils.move_to_cpu(data), group=group)
        return gathered

    distributed.all_gather_list = all_gather_list


# -------------------------------------------------------------------------- processes of torchrun

_SET_BY_TORCHRUN = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")


def _torchrun_is_overlooked() -> bool:
    from fairseq.distributed import utils as distributed

    return distributed.call_main.__module__ != __name__


def _join_the_processes_of_torchrun() -> None:
    from fairseq.distributed import utils as distributed

    call_main = distributed.call_main

    # not `functools.wraps`, which would hide whose it is
    def call_main_of_one_job(cfg: Any, main: Any, **kwargs: Any) -> None:
        """fairseq's, which starts `main`; as one of several processes if torchrun says so."""
        of_training = cfg.distributed_training
        asked_for = of_training.distributed_init_method is not None or cfg.common.tpu
        if not asked_for and all(name in os.environ for name in _SET_BY_TORCHRUN):
            _take_the_place_given_by_torchrun(of_training, cfg.common.cpu)
        call_main(cfg, main, **kwargs)

    distributed.call_main = call_main_of_one_job


def _take_the_place_given_by_torchrun(cfg: Any, on_cpu: bool) -> None:
    """Sets what fairseq's options say about processes; one process stays as it is."""
    processes = int(os.environ["WORLD_SIZE"])
    if processes == 1:
        return
    cfg.distributed_world_size = processes
    if torch.cuda.is_available() and not on_cpu:
        here, gpus = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), torch.cuda.device_count()
        if here > gpus:  # fairseq would put two processes on one, where NCCL fails
            raise ValueError(
                f"torchrun --nproc-per-node {here}: each process needs a GPU of its own, and there "
                f"are {gpus} here; start {gpus}, or train on CPUs by --cpu"
            )
        return  # told that there are several, fairseq reads the rest itself
    if cfg.ddp_backend not in ("pytorch_ddp", "c10d", "legacy_ddp", "no_c10d"):
        raise ValueError(
            f"--ddp-backend {cfg.ddp_backend}: needs GPUs; on CPUs the processes of torchrun train "
            "together by legacy_ddp, also if nothing is given"
        )
    cfg.ddp_backend = "legacy_ddp"  # fairseq gives the others the number of a GPU
    if cfg.distributed_backend == "nccl":  # the default, which knows GPUs alone
        cfg.distributed_backend = "gloo"
    cfg.distributed_init_method = "env://"
    cfg.distributed_rank = int(os.environ["RANK"])
    cfg.device_id = 0
    cfg.distributed_no_spawn = True


# ------------------------------------------------------------------- the task that is asked for


def _ignores_the_name_of_a_task() -> bool:
    from fairseq import checkpoint_utils

    return not hasattr(checkpoint_utils.load_model_ensemble_and_task, "__wrapped__")


def _use_the_named_task() -> None:
    from fairseq import checkpoint_utils

    load = checkpoint_utils.load_model_ensemble_and_task

    @functools.wraps(load)
    def load_model_ensemble_and_task(
        filenames: Any, arg_overrides: Any = None, task: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        if task is None and isinstance((arg_overrides or {}).get("task"), str):
            others = {name: value for name, value in arg_overrides.items() if name != "task"}
            task = _task_for_checkpoint(filenames[0], arg_overrides["task"], others)
            arg_overrides = others
        try:
            return load(filenames, arg_overrides, task, *args, **kwargs)
        except RuntimeError as error:
            _name_what_does_not_fit(filenames, task, error)
            raise

    checkpoint_utils.load_model_ensemble_and_task = load_model_ensemble_and_task


def _name_what_does_not_fit(paths: Any, task: Any, error: RuntimeError) -> None:
    """Raises an error about the checkpoint whose vocabulary is not the task's, if that is it."""
    from fairseq import checkpoint_utils

    if task is None or "size mismatch" not in str(error):
        return
    for path in filter(os.path.isfile, paths):  # parts of a checkpoint have names of their own
        state = checkpoint_utils.load_checkpoint_to_cpu(path)
        try:
            fault = other_vocabulary(state["model"], task)
        except NotImplementedError:  # a task without dictionaries
            return
        if fault is not None:
            raise ValueError(f"{path}: {fault}") from error


def _task_for_checkpoint(path: str, name: str, overrides: dict[str, Any]) -> Any:
    """The task `name` with the options of the task that a checkpoint was trained with."""
    from fairseq import checkpoint_utils, tasks
    from omegaconf import OmegaConf, open_dict

    if name not in tasks.TASK_DATACLASS_REGISTRY:
        known = ", ".join(sorted(tasks.TASK_DATACLASS_REGISTRY))
        raise ValueError(f"task={name!r}: there is no such task; known: {known}")
    options = checkpoint_utils.load_checkpoint_to_cpu(path, overrides)["cfg"].task
    if not OmegaConf.is_config(options):
        raise ValueError(
            f"task={name!r}: {path} was trained with the task {options.task}, whose options are "
            "no configuration that another task could take"
        )
    with open_dict(options):
        options._name = name
    return tasks.setup_task(options, from_checkpoint=True)


# -------------------------------------------------------------------------------------- warnings

_NOISE: tuple[tuple[type[Warning], str], ...] = (
    # fairseq talks to torch and hydra in outdated ways that only its own files could mend ...
    (FutureWarning, r"`torch\.cuda\.amp\.(autocast|GradScaler)\(args\.\.\.\)` is deprecated"),
    (UserWarning, r"Support for mismatched key_padding_mask and attn_mask is deprecated"),
    (UserWarning, r"hydra\.experimental\.(initialize|compose)\(\) is no longer experimental"),
    (UserWarning, r"\s*The version_base parameter is not specified"),
    (UserWarning, r"In 'config': Usage of deprecated keyword in package header"),
    (UserWarning, r"\s*'config' is validated against ConfigStore schema with the same name"),
    (UserWarning, r"\s*The strict flag in the compose API is deprecated"),
    # ... and it asks for pinned memory on machines without a GPU, where that is no loss.
    (UserWarning, r"'pin_memory' argument is set as true but no accelerator is found"),
)


def _silence_known_warnings() -> None:
    for category, message in _NOISE:
        warnings.filterwarnings("ignore", message=message, category=category)
    logging.getLogger("numba").setLevel(logging.WARNING)  # it has thousands of debug messages
    _log_as_commands_mean_to()


def _log_as_commands_mean_to() -> None:
    """Under fairseq's commands, the level that they ask for.

    They ask in vain, since at the import of wav2vec2_classification it is set to DEBUG for all
    libraries. A program of a user's own that logs everything goes on to do so.
    """
    root = logging.getLogger()
    is_command = any(name.startswith("fairseq_cli.") for name in sys.modules)
    is_preset = any(
        handler.formatter is not None and handler.formatter._fmt == logging.BASIC_FORMAT
        for handler in root.handlers
    )
    if is_command and is_preset and root.level == logging.DEBUG:
        root.setLevel(os.environ.get("LOGLEVEL", "INFO").upper())


FIXES: tuple[Fix, ...] = (
    Fix("checkpoints-load-safely", _loads_as_fairseq_does, _load_checkpoints_safely),
    Fix("configurations-are-not-run", _evaluates_text, _read_literals_instead_of_eval),
    Fix("last-batch-is-kept", _batch_by_size_drops_the_rest, _keep_the_last_batch),
    Fix("bf16-without-tpu", _bf16_means_tpu, _train_bf16_on_the_device_there_is),
    Fix("workers-gather-any-data", _gathers_by_cuda_buffers, _gather_anything_on_any_device),
    Fix("torchrun-trains-one-job", _torchrun_is_overlooked, _join_the_processes_of_torchrun),
    Fix("named-task-is-used", _ignores_the_name_of_a_task, _use_the_named_task),
    # adding a filter again changes nothing
    Fix("no-warning-noise", lambda: True, _silence_known_warnings),
)
