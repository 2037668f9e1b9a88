"""Every fix: the fault is there without it, gone with it, and the rest stays as it was."""

import argparse
import os
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from fairseq_mcts import compat

TRUST = compat.TRUSTED_CHECKPOINTS


@pytest.fixture(autouse=True)
def _fixes() -> None:
    compat.apply()


def save_checkpoint(path: Path, **content: Any) -> str:
    """Write a file with the skeleton that fairseq expects of a checkpoint."""
    skeleton = {
        "optimizer_history": [{"optimizer_name": "", "lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": None},
    }
    torch.save({**skeleton, **content}, path)
    return str(path)


def load_checkpoint(path: str) -> dict[str, Any]:
    from fairseq import checkpoint_utils

    state: dict[str, Any] = checkpoint_utils.load_checkpoint_to_cpu(path)
    return state


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


class Intruder:
    """An object that leaves a trace if a checkpoint with it is loaded without care."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


# ----------------------------------------------------------------------------------- safe loading


def test_checkpoint_with_the_command_line_of_old_loads(tmp_path: Path) -> None:
    args = argparse.Namespace(task="translation", arch="transformer_tiny", lr=[0.1])
    path = save_checkpoint(tmp_path / "checkpoint.pt", args=args, model={"w": torch.ones(2, 3)})

    state = load_checkpoint(path)

    assert state["cfg"].task._name == "translation"
    assert torch.equal(state["model"]["w"], torch.ones(2, 3))


def test_checkpoint_with_a_configuration_tree_loads(tmp_path: Path) -> None:
    model = argparse.Namespace(arch="transformer", max_source_positions=128)
    tree = OmegaConf.create({"data": "bin", "eval_bleu": True, "clip": 0.5, "seeds": [1, 2]})
    cfg = OmegaConf.create({"tree": tree, "model": model}, flags={"allow_objects": True})

    state = load_checkpoint(save_checkpoint(tmp_path / "checkpoint.pt", cfg=cfg))

    assert state["cfg"].tree == tree
    assert state["cfg"].model == model


def test_checkpoint_with_numpy_in_its_meters_loads(tmp_path: Path) -> None:
    meters = {"counts": np.array([3, 2, 1]), "bleu": np.float64(31.5), "on": np.bool_(True)}

    state = load_checkpoint(save_checkpoint(tmp_path / "checkpoint.pt", meters=meters))

    assert state["meters"].pop("counts").tolist() == [3, 2, 1]
    assert state["meters"] == {"bleu": 31.5, "on": True}


def test_checkpoint_written_under_numpy_1_loads(tmp_path: Path) -> None:
    new = save_checkpoint(tmp_path / "new.pt", counts=np.array([3, 2, 1]), n=np.float32(0.5))
    old = tmp_path / "old.pt"
    with zipfile.ZipFile(new) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("/data.pkl"):
                assert b"numpy._core.multiarray" in content
                content = content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
            target.writestr(name, content)

    state = load_checkpoint(str(old))

    assert state["counts"].tolist() == [3, 2, 1]
    assert state["n"] == 0.5


def test_foreign_object_is_refused_by_name_and_never_runs(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "evil.pt", extra=Intruder(tmp_path / "trace"))

    with pytest.raises(compat.UnsafeCheckpointError, match=r"evil\.pt holds .*mkdir") as refusal:
        load_checkpoint(path)

    assert f"{compat.TRUSTED_CHECKPOINTS}={path}" in str(refusal.value)
    assert not (tmp_path / "trace").exists()


def test_only_the_file_named_as_trusted_is_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = save_checkpoint(tmp_path / "ours.pt", extra=Intruder(tmp_path / "ours"))
    foreign = save_checkpoint(tmp_path / "theirs.pt", extra=Intruder(tmp_path / "theirs"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(compat.TRUSTED_CHECKPOINTS, os.pathsep.join(["elsewhere.pt", "ours.pt"]))

    load_checkpoint(trusted)
    with pytest.raises(compat.UnsafeCheckpointError):
        load_checkpoint(foreign)

    assert (tmp_path / "ours").exists()
    assert not (tmp_path / "theirs").exists()


def test_damaged_file_is_not_blamed_on_safe_loading(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pt"
    path.write_bytes(b"no checkpoint at all")

    with pytest.raises(pickle.UnpicklingError, match=f"^{path}: is no whole checkp") as failure:
        load_checkpoint(str(path))

    assert not isinstance(failure.value, compat.UnsafeCheckpointError)


@pytest.fixture
def old_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch before 2.6: it loads everything unless a switch says otherwise."""
    from fairseq import checkpoint_utils

    load = torch.load

    def load_unsafely(file: Any, *, weights_only: bool | None = None, **options: Any) -> Any:
        if weights_only is None:
            weights_only = os.environ.get(compat.TORCH_SAFE_LOADING) == "1"
        return load(file, weights_only=weights_only, **options)

    monkeypatch.setattr(torch, "load", load_unsafely)
    unwrapped = checkpoint_utils.load_checkpoint_to_cpu.__wrapped__
    monkeypatch.setattr(checkpoint_utils, "load_checkpoint_to_cpu", unwrapped)


def test_a_torch_that_loads_unsafely_does_so_no_more(tmp_path: Path, old_torch: None) -> None:
    hostile = save_checkpoint(tmp_path / "evil.pt", extra=Intruder(tmp_path / "trace"))
    args = argparse.Namespace(task="translation", arch="transformer_tiny")
    plain = save_checkpoint(tmp_path / "plain.pt", args=args)

    assert "checkpoints-load-safely" in compat.apply()

    with pytest.raises(compat.UnsafeCheckpointError, match="mkdir, which fairseq checkpoints do"):
        load_checkpoint(hostile)
    assert not (tmp_path / "trace").exists()
    assert load_checkpoint(plain)["cfg"].task._name == "translation"


@pytest.fixture
def oldest_torch(old_torch: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """torch before 2.4: it can't be told which classes are harmless."""
    allowed = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    with monkeypatch.context() as patch:
        patch.delattr(torch.serialization, "add_safe_globals")
        yield
    torch.serialization.add_safe_globals(allowed)


def test_a_torch_that_can_allow_no_classes_loads_trusted_checkpoints_alone(
    tmp_path: Path, oldest_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = save_checkpoint(tmp_path / "evil.pt", extra=Intruder(tmp_path / "trace"))
    args = argparse.Namespace(task="translation", arch="transformer_tiny")
    plain = save_checkpoint(tmp_path / "plain.pt", args=args)
    compat.apply()

    with pytest.raises(compat.UnsafeCheckpointError, match=r"mkdir, and torch \S+ can't be told"):
        load_checkpoint(hostile)
    with pytest.raises(compat.UnsafeCheckpointError, match=rf"Namespace, .*{TRUST}={plain}$"):
        load_checkpoint(plain)
    assert not (tmp_path / "trace").exists()

    monkeypatch.setenv(TRUST, plain)
    assert load_checkpoint(plain)["cfg"].task._name == "translation"


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported class argparse.Namespace",  # torch 2.1
        "Trying to instantiate unsupported class <class 'argparse.Namespace'>",
        "Unsupported global: GLOBAL argparse.Namespace was not an allowed global by default.",
    ],
)
def test_the_refused_class_is_read_off_the_words_of_every_torch(words: str) -> None:
    explained = compat._explained("x.pt", pickle.UnpicklingError(words), False)
    assert str(explained).startswith("x.pt holds an object of argparse.Namespace, ")


# ------------------------------------------------------------------- options that are Python text


@pytest.fixture
def toy_dictionary() -> Any:
    from fairseq.data import Dictionary

    dictionary = Dictionary()
    dictionary.add_symbol("word")
    return dictionary


CONVOLUTIONS = {"encoder_layers": "[(32, 3)]", "decoder_layers": "[(32, 3)] * 2"}


def convolutional(dictionary: Any, **options: str) -> tuple[Any, argparse.Namespace]:
    """A task and the configuration of a model whose layers are Python text."""
    from fairseq.models.fconv import base_architecture
    from fairseq.tasks.translation import TranslationConfig, TranslationTask

    args = argparse.Namespace(_name="fconv", arch="fconv", task="translation", **options)
    base_architecture(args)
    args.max_source_positions = args.max_target_positions = 50
    return TranslationTask(TranslationConfig(), dictionary, dictionary), args


def test_options_of_literals_build_the_model_that_they_describe(toy_dictionary: Any) -> None:
    task, args = convolutional(toy_dictionary, **CONVOLUTIONS)
    model = task.build_model(args)
    assert len(model.decoder.convolutions) == 2


@pytest.mark.parametrize("name", ["encoder_layers", "decoder_layers", "decoder_attention"])
def test_options_of_a_checkpoint_are_not_run(
    tmp_path: Path, toy_dictionary: Any, name: str
) -> None:
    trace = tmp_path / "trace"
    text = f"__import__('os').mkdir({str(trace)!r}) or [(32, 3)]"
    task, args = convolutional(toy_dictionary, **{**CONVOLUTIONS, name: text})
    path = save_checkpoint(tmp_path / "checkpoint.pt", args=args, model={})
    from fairseq import checkpoint_utils

    with pytest.raises(compat.UnsafeCheckpointError, match="more than literals"):
        checkpoint_utils.load_model_ensemble([path], task=task)
    assert not trace.exists()


def test_options_of_a_trusted_checkpoint_are_run(
    tmp_path: Path, toy_dictionary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compat, "_trusted_texts", set())
    task, args = convolutional(
        toy_dictionary, encoder_layers="[(32, 3)]", decoder_layers="[(32, 3) for _ in range(3)]"
    )
    path = save_checkpoint(tmp_path / "checkpoint.pt", args=args, model={})
    monkeypatch.setenv(compat.TRUSTED_CHECKPOINTS, path)
    state = load_checkpoint(path)
    assert len(task.build_model(state["cfg"].model).decoder.convolutions) == 3


def test_no_module_of_fairseq_has_the_builtin() -> None:
    """Of those that run text, that is: also of modules that are loaded later."""
    from fairseq import utils
    from fairseq.models import lightconv, lstm  # noqa: F401
    from fairseq.optim import adam  # noqa: F401

    assert utils.eval_str_list("(1, 2)") == [1, 2]
    with pytest.raises(compat.UnsafeCheckpointError):
        utils.eval_bool("__import__('os').getcwd()")
    with pytest.raises(compat.UnsafeCheckpointError):
        utils.eval_str_list("print(1)")


RUNNING_TEXT = """
import re, sys
from pathlib import Path
import fairseq_cli.generate
from fairseq_mcts.register import register
register()
from fairseq_mcts import compat
folder = Path(sys.modules["fairseq"].__file__).parent
for path in folder.rglob("*.py"):
    place = path.relative_to(folder).with_suffix("").parts
    if "examples" in place or not re.search(r"(?<![\\w.])eval\\(", path.read_text("utf-8")):
        continue
    module = sys.modules.get(".".join(("fairseq", *place)))
    mended = module is not None and vars(module).get("eval") is compat._literal
    print(".".join(place), mended)
"""


def test_every_module_of_fairseq_that_runs_text_is_loaded_and_mended() -> None:
    """One that were loaded only when a model is built would still have the builtin."""
    ended = run_python(RUNNING_TEXT)
    found = dict(line.split() for line in ended.stdout.splitlines())
    assert {"utils", "models.fconv", "models.wav2vec.wav2vec2"} <= set(found), ended.stderr
    assert set(found.values()) == {"True"}, found


# --------------------------------------------------------------------------------- the last batch


def batches_of(lengths: Sequence[int], **options: int | None) -> list[list[int]]:
    from fairseq.data import data_utils

    batches = data_utils.batch_by_size(
        np.arange(len(lengths)),
        num_tokens_fn=None,
        num_tokens_vec=np.array(lengths, dtype=np.int64),
        **options,
    )
    return [list(map(int, batch)) for batch in batches]


@pytest.mark.parametrize("lines", [1, 7, 8, 41])
@pytest.mark.parametrize("multiple", [1, 8])
def test_every_line_is_in_exactly_one_batch(lines: int, multiple: int) -> None:
    batches = batches_of([5] * lines, max_tokens=90, required_batch_size_multiple=multiple)

    assert [line for batch in batches for line in batch] == list(range(lines))
    assert all(len(batch) <= 90 // 5 for batch in batches)
    assert all(len(batch) % multiple == 0 for batch in batches[:-1])


def test_the_mended_function_still_obeys_the_number_of_sentences() -> None:
    batches = batches_of([3] * 5, max_sentences=2, required_batch_size_multiple=8)
    assert batches == [[0, 1], [2, 3], [4]]


def test_no_lines_make_no_batches() -> None:
    assert batches_of([], max_tokens=90, required_batch_size_multiple=8) == []


# --------------------------------------------------------------------------- processes of torchrun


def call_main_under_torchrun(
    monkeypatch: pytest.MonkeyPatch, processes: int, *, cpu: bool = True, **options: Any
) -> Any:
    """The configuration that fairseq's `main` gets in the first process."""
    from fairseq.dataclass.configs import FairseqConfig
    from fairseq.distributed import utils as distributed

    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")
    monkeypatch.setenv("WORLD_SIZE", str(processes))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(processes))
    monkeypatch.setenv("RANK", "0")
    cfg = OmegaConf.structured(FairseqConfig())
    cfg.common.cpu = cpu
    cfg.distributed_training.distributed_world_size = 1  # as it is without a GPU
    cfg.distributed_training.update(options)
    calls: list[Any] = []
    distributed.call_main(cfg, calls.append)
    [seen] = calls
    return seen


def test_one_process_of_torchrun_is_one_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cfg = call_main_under_torchrun(monkeypatch, processes=1)
    assert cfg.distributed_training.distributed_init_method is None
    assert cfg.distributed_training.ddp_backend == "pytorch_ddp"


def test_what_needs_gpus_is_refused_in_processes_on_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="--ddp-backend slowmo: needs GPUs"):
        call_main_under_torchrun(monkeypatch, processes=2, ddp_backend="slowmo")


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ValueError, match=r"--nproc-per-node 3: .* there are 2 here; start 2"):
        call_main_under_torchrun(monkeypatch, processes=3, cpu=False)


# ------------------------------------------------------------------------- once, and without noise


def test_fixes_are_applied_once_and_only_where_needed() -> None:
    applied = run_python("from fairseq_mcts import compat; print(compat.apply(), compat.apply())")
    every_fix = [fix.name for fix in compat.FIXES]
    assert applied.stdout.strip() == f"{every_fix} ['no-warning-noise']"
    assert re.findall(r"^([a-z0-9-]+): ", compat.__doc__ or "", re.MULTILINE) == every_fix

    opted_out = run_python(
        "from fairseq_mcts import compat; print(compat.apply())",
        **{compat.TORCH_UNSAFE_LOADING: "1"},
    )
    assert opted_out.stdout.strip() == str(every_fix[1:])


@pytest.mark.parametrize(
    ("before", "environment", "level"),
    [
        ("import fairseq_cli.generate", {}, "INFO"),
        ("import fairseq_cli.train", {"LOGLEVEL": "debug"}, "DEBUG"),
        # somebody's own program
        ("logging.basicConfig(level=logging.DEBUG)", {}, "DEBUG"),
        (
            "logging.basicConfig(level=10, format='%(message)s'); import fairseq_cli.train",
            {},
            "DEBUG",
        ),
    ],
)
def test_fairseqs_commands_log_at_the_level_they_ask_for(
    before: str, environment: dict[str, str], level: str
) -> None:
    result = run_python(
        f"import logging; {before}\n"
        "from fairseq_mcts.register import register\n"
        "register()\n"
        "print(logging.getLevelName(logging.getLogger().level))",
        **environment,
    )
    assert result.stdout.splitlines()[-1] == level, result.stderr


def test_registering_twice_says_nothing_and_leaves_logging_alone() -> None:
    result = run_python(
        "import logging\n"
        "from fairseq_mcts.register import register\n"
        "register(); register()\n"
        "root = logging.getLogger()\n"
        "assert not root.handlers and root.level == logging.WARNING, (root.handlers, root.level)\n"
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
