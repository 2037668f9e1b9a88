"""A checkpoint that was trained for its value alone serves as one, and never as a policy."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import STEPS

pytestmark = pytest.mark.slow

COMPLAINT = "holds only a value, trained with --policy-weight 0 and without --freeze-policy"
VALID = ("--task", "translation_mcts", "--cpu", "--gen-subset", "valid", "--max-len-b", "12")
ALONE = ("--policy-weight", "0", "--max-update", "1", "--disable-validation")


@pytest.fixture(scope="module")
def value(fairseq: Any, value_options: Any) -> str:
    fairseq.run("train", *value_options("value-only", *ALONE))
    return "value-only/checkpoint_last.pt"


@pytest.mark.parametrize(
    "options",
    [
        ("--beam", "2"),
        ("--search", "vgbs"),
        ("--search", "vgbs", "--value-path", "value-only/checkpoint_last.pt"),
        ("--score-reference",),
    ],
)
def test_it_is_refused_as_a_policy(fairseq: Any, value: str, options: tuple[str, ...]) -> None:
    complaint = fairseq.fail("generate", "bin", *VALID, "--path", value, *options)
    assert f"--path: {COMPLAINT}" in complaint


def test_an_ensemble_with_it_is_refused(fairseq: Any, value: str, policy: str) -> None:
    complaint = fairseq.fail("generate", "bin", *VALID, "--path", f"{policy}:{value}")
    assert f"--path: {COMPLAINT}" in complaint


def test_it_is_taken_as_a_value(fairseq: Any, value: str, policy: str) -> None:
    search = ("--search", "vgbs", "--vgbs-beam", "2")
    output = fairseq.run(
        "generate", "bin", *VALID, "--path", policy, "--value-path", value, *search
    )
    assert len(re.findall(r"^V-\d+\t", output, flags=re.MULTILINE)) == 21


def test_it_is_no_teacher_and_nothing_to_freeze(
    fairseq: Any, value: str, value_options: Any
) -> None:
    complaint = fairseq.fail("train", *value_options("refused", "--teacher-path", value))
    assert f"--teacher-path {value}: {COMPLAINT}" in complaint
    complaint = fairseq.fail(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", value, "--freeze-policy", "--criterion", "value"),
        *("--policy-weight", "0", *STEPS, "--max-update", "1", "--no-save"),
    )
    assert f"--policy-path {value}: {COMPLAINT}" in complaint


def test_a_value_on_a_frozen_policy_is_a_policy_too(
    fairseq: Any, scored: Path, policy: str
) -> None:
    fairseq.run(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", policy, "--freeze-policy", "--criterion", "value", *STEPS, *ALONE),
        *("--save-dir", "value-on-frozen"),
    )
    path = "value-on-frozen/checkpoint_last.pt"
    output = fairseq.run("generate", "bin", *VALID, "--path", path, "--beam", "2")
    assert len(re.findall(r"^D-\d+\t", output, flags=re.MULTILINE)) == 21


def test_validation_translates_with_no_policy_that_is_not_trained(
    fairseq: Any, value_options: Any
) -> None:
    options = value_options("refused", *ALONE, "--eval-bleu")
    assert "--eval-bleu: with --policy-weight 0 and" in fairseq.fail("train", *options)
