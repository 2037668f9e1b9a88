"""A value head for a checkpoint that is there already, its policy untouched."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils

from fairseq_mcts.register import register
from tests.training.conftest import SMALL, STEPS
from tests.training.scored_corpus import json_logs, saved_state

pytestmark = pytest.mark.slow

HEAD = "decoder.value_head."
SEARCHES = {
    "beam": ("--beam", "2"),
    "mcts": ("--search", "mcts", "--search-budget", "4"),
    "vgbs": ("--search", "vgbs", "--vgbs-beam", "2"),
    "sr": ("--search", "sr", "--sr-samples", "3", "--sr-rank-by", "value"),
}


@pytest.fixture(scope="module")
def fairseqs_own(fairseq: Any) -> str:
    """An ordinary transformer, with an option that is not fairseq's default."""
    fairseq.run(
        "train",
        *("bin", "--task", "translation", "--arch", "transformer", *SMALL),
        *("--encoder-attention-heads", "2", "--decoder-attention-heads", "2"),
        *("--encoder-ffn-embed-dim", "64", "--decoder-ffn-embed-dim", "64"),
        *("--activation-fn", "gelu", "--criterion", "cross_entropy", *STEPS),
        *("--max-epoch", "25", "--disable-validation", "--save-dir", "fairseqs-own"),
    )
    return "fairseqs-own/checkpoint_last.pt"


@dataclass(frozen=True)
class Trained:
    """A policy and the checkpoints of a value head on top of it."""

    policy: Path  # not where it was in training
    folder: Path
    log: str


HEADS = {
    "comparing": (),
    "plain": ("--value-head", "plain", "--value-tower-layers", "1", "--value-preset", "paper"),
}


@pytest.fixture(
    scope="module", params=["multiquery comparing", "transformer comparing", "transformer plain"]
)
def trained(request: Any, fairseq: Any, scored: Path) -> Trained:
    policy, head = request.param.split()
    fixture = {"multiquery": "policy", "transformer": "fairseqs_own"}[policy]
    original = fairseq.folder / request.getfixturevalue(fixture)
    given = fairseq.folder / f"{policy}.pt"
    given.write_bytes(original.read_bytes())
    save_dir = f"{head}-value-of-{policy}"
    log = fairseq.run(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", given.name, "--freeze-policy", *HEADS[head]),
        *("--criterion", "value", "--policy-weight", "0", "--value-weight", "1", *STEPS),
        *("--max-epoch", "20", "--save-dir", save_dir),
    )
    given.unlink()
    return Trained(original, fairseq.folder / save_dir, log)


def test_the_value_is_learned(trained: Trained) -> None:
    logs = json_logs(trained.log, "valid")
    assert logs[-1]["valid_value_loss"] < logs[0]["valid_value_loss"]
    assert logs[-1]["valid_value_mae"] < logs[-1]["valid_value_mae_of_mean"]


def test_only_the_value_head_has_changed(trained: Trained) -> None:
    before = saved_state(trained.policy)["model"]
    after = saved_state(trained.folder / "checkpoint_last.pt")["model"]
    assert {name for name in after if not name.startswith(HEAD)} == before.keys()
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor), name
    first = saved_state(trained.folder / "checkpoint_best.pt")["last_optimizer_state"]["state"]
    assert len(first) == len([name for name in after if name.startswith(HEAD)]) - 1  # the range


def test_logits_are_those_of_the_policy(
    trained: Trained, fairseq: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fairseq.folder)
    register()
    overrides = {"data": "bin"}
    [policy], _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(trained.policy)], arg_overrides=overrides
    )
    [model], _ = checkpoint_utils.load_model_ensemble(
        [str(trained.folder / "checkpoint_last.pt")], task=task
    )
    task.load_dataset("test")
    dataset = task.dataset("test")
    batch = dataset.collater([dataset[index] for index in range(8)])["net_input"]
    with torch.no_grad():
        expected, _ = policy.eval()(**batch)
        found, extra = model.eval()(**batch)
    assert torch.equal(found, expected)
    assert extra["value"].shape == found.shape[:2]


def test_beam_search_prints_what_it_prints_with_the_policy(trained: Trained, fairseq: Any) -> None:
    """To the last digit."""
    paths = (trained.policy, trained.folder / "checkpoint_best.pt")
    outputs = [
        fairseq.run(
            "generate",
            *("bin", "--task", "translation_mcts", "--cpu", "--gen-subset", "valid"),
            *("--path", str(path), "--max-len-b", "12", "--beam", "5"),
        )
        for path in paths
    ]
    of_policy, of_value = (re.findall(r"^[HP]-.*", one, flags=re.MULTILINE) for one in outputs)
    assert len(of_policy) == 2 * 21
    assert of_value == of_policy


def test_every_search_decodes_with_it(trained: Trained, fairseq: Any) -> None:
    for name, options in SEARCHES.items():
        output = fairseq.run(
            "generate",
            *("bin", "--task", "translation_mcts", "--cpu", "--gen-subset", "valid"),
            *("--path", str(trained.folder / "checkpoint_best.pt"), "--max-len-b", "12", *options),
        )
        assert len(re.findall(r"^D-\d+\t", output, flags=re.MULTILINE)) == 21, name
        values = re.findall(r"^V-\d+\t(\S+)", output, flags=re.MULTILINE)
        assert len(values) == (0 if name == "beam" else 21)
        assert all(0 <= float(value) <= 1 for value in values)
