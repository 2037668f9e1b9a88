"""Checkpoints with live payloads, given to fairseq's commands by every option that loads one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fairseq_mcts.cli import relabel
from tests import intruders
from tests.cli.relabel import forked
from tests.training.conftest import SMALL, STEPS

pytestmark = pytest.mark.slow

REFUSED = "which fairseq checkpoints do not contain"
NOT_RUN = "which is more than literals"
ONE_STEP = ("--max-update", "1", "--no-save", "--num-workers", "0")


@pytest.fixture
def hostile(fairseq: Any, tmp_path: Path) -> tuple[str, Path]:
    """A checkpoint, and what must not be there afterwards."""
    mark = tmp_path / "mark"
    return str(intruders.save_checkpoint(tmp_path / "hostile.pt", mark)), mark


@pytest.mark.parametrize("option", ["--teacher-path", "--restore-file", "--finetune-from-model"])
def test_training_a_value(
    option: str, fairseq: Any, value_options: Any, hostile: tuple[str, Path]
) -> None:
    path, mark = hostile
    more = ("--policy-loss", "nll") if option != "--teacher-path" else ()
    # into a folder of its own: fairseq looks for the file of a restart there
    options = value_options(f"hostile{option}", option, path, *more, *ONE_STEP)
    assert REFUSED in fairseq.fail("train", *options)
    assert not mark.exists()


def test_a_policy_that_gets_a_value(fairseq: Any, scored: Path, hostile: tuple[str, Path]) -> None:
    path, mark = hostile
    complaint = fairseq.fail(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", path, "--freeze-policy", "--criterion", "value", *STEPS, *ONE_STEP),
        *("--save-dir", "hostile-policy"),
    )
    assert REFUSED in complaint
    assert not mark.exists()


@pytest.mark.parametrize("search", ["beam", "mcts"])
def test_decoding_with_it(search: str, fairseq: Any, hostile: tuple[str, Path]) -> None:
    path, mark = hostile
    options = ("bin", "--task", "translation_mcts", "--cpu", "--path", path, "--search", search)
    assert REFUSED in fairseq.fail("generate", *options)
    assert not mark.exists()


def test_a_value_and_a_language_model(fairseq: Any, policy: str, hostile: tuple[str, Path]) -> None:
    path, mark = hostile
    options = ("bin", "--task", "translation_mcts", "--cpu", "--path", policy)
    assert REFUSED in fairseq.fail("generate", *options, "--search", "mcts", "--value-path", path)
    assert REFUSED in fairseq.fail("generate", *options, "--lm-path", path, "--lm-weight", "0.1")
    assert not mark.exists()


def test_the_checkpoint_that_a_training_goes_on_from(
    fairseq: Any, hostile: tuple[str, Path]
) -> None:
    """What lies in --save-dir is loaded without being named."""
    _, mark = hostile
    folder = fairseq.folder / "hostile-restart"
    folder.mkdir()
    intruders.save_checkpoint(folder / "checkpoint_last.pt", mark)
    complaint = fairseq.fail(
        "train",
        *("bin", "--task", "translation_mcts", "--arch", "multiquery_transformer_tiny", *SMALL),
        *("--criterion", "label_smoothed_cross_entropy", *STEPS, *ONE_STEP),
        *("--save-dir", "hostile-restart"),
    )
    assert REFUSED in complaint
    assert not mark.exists()


# ------------------------------------------- configurations that fairseq would run as Python text


@pytest.fixture
def evaluated(tmp_path: Path) -> tuple[str, Path]:
    """A checkpoint, and what must not be there afterwards."""
    mark = tmp_path / "mark"
    return str(intruders.save_configuration(tmp_path / "evaluated.pt", mark)), mark


def test_such_a_configuration_is_alive(evaluated: tuple[str, Path]) -> None:
    """Or the tests below would show nothing."""
    path, mark = evaluated

    eval(torch.load(path, weights_only=False)["args"].encoder_layers)
    assert mark.is_dir()


DECODING = ("bin", "--task", "translation_mcts", "--cpu")
BY_OPTION: dict[str, Callable[[str, str], tuple[str, ...]]] = {
    "beam": lambda path, policy: (*DECODING, "--path", path),
    "mcts": lambda path, policy: (*DECODING, "--path", path, "--search", "mcts"),
    "value": lambda path, policy: (
        *(*DECODING, "--path", policy, "--search", "mcts", "--value-path", path),
    ),
}


@pytest.mark.parametrize("option", BY_OPTION)
def test_decoding_runs_no_configuration(
    option: str, fairseq: Any, policy: str, evaluated: tuple[str, Path]
) -> None:
    path, mark = evaluated
    assert NOT_RUN in fairseq.fail("generate", *BY_OPTION[option](path, policy))
    assert not mark.exists()


def test_training_runs_no_configuration(
    fairseq: Any, scored: Path, value_options: Any, evaluated: tuple[str, Path]
) -> None:
    path, mark = evaluated
    options = value_options("evaluated-teacher", "--teacher-path", path, *ONE_STEP)
    assert NOT_RUN in fairseq.fail("train", *options)
    complaint = fairseq.fail(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", path, "--freeze-policy", "--criterion", "value", *STEPS, *ONE_STEP),
        *("--save-dir", "evaluated-policy"),
    )
    assert NOT_RUN in complaint
    assert not mark.exists()


def test_relabelling_runs_no_configuration(fairseq: Any, evaluated: tuple[str, Path]) -> None:
    path, mark = evaluated
    arguments = ["bin", "--path", path, "--cpu", "--metric", "bleu", "--out", "evaluated"]
    ended = forked.run(relabel.main, fairseq.folder, arguments)
    assert ended.code == 2
    assert NOT_RUN in ended.err
    assert not mark.exists()
