"""Training that is killed in the middle of an epoch goes on as if nothing had happened."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.data.scored_folder import SplitNames
from tests.training.scored_corpus import saved_state

pytestmark = pytest.mark.slow

UPDATES_PER_EPOCH = 7


def losses_by_update(output: str) -> dict[int, tuple[float, float]]:
    """Loss and gradient norm of every update, as printed."""
    found = {}
    for line in output.splitlines():
        if "train_inner | {" in line:
            log = json.loads(line[line.index("{") :])
            found[int(log["num_updates"])] = (float(log["loss"]), float(log["gnorm"]))
    return found


def test_killed_training_continues_identically(
    fairseq: Any, policy: str, value_options: Any
) -> None:
    def options(save_dir: str) -> list[str]:
        return [
            *value_options(save_dir, "--teacher-path", policy, criterion="hybrid"),
            *("--max-epoch", "3", "--log-interval", "1", "--save-interval-updates", "5"),
        ]

    whole = losses_by_update(fairseq.run("train", *options("whole")))
    assert sorted(whole) == list(range(1, 3 * UPDATES_PER_EPOCH + 1))

    # by then update 10 has been saved, and 11, still of epoch 2, made
    fairseq.kill_at('"num_updates": "11"', "train", *options("killed"))
    last = saved_state(fairseq.folder / "killed" / "checkpoint_last.pt")
    assert last["optimizer_history"][-1]["num_updates"] == 10
    assert last["extra_state"]["train_iterator"]["iterations_in_epoch"] == 10 - UPDATES_PER_EPOCH

    resumed = losses_by_update(fairseq.run("train", *options("killed")))

    assert resumed == {update: whole[update] for update in whole if update > 10}
    expected, found = (
        saved_state(fairseq.folder / name / "checkpoint_last.pt") for name in ("whole", "killed")
    )
    assert found["model"].keys() == expected["model"].keys()
    for name, tensor in expected["model"].items():
        assert torch.equal(found["model"][name], tensor), name
    moments = [one["last_optimizer_state"]["state"] for one in (expected, found)]
    for index, state in moments[0].items():
        assert torch.equal(moments[1][index]["exp_avg"], state["exp_avg"])
    assert found["extra_state"]["best"] == expected["extra_state"]["best"]


def test_rows_that_are_drawn_are_the_same_after_a_kill(
    fairseq: Any, scored: Path, value_options: Any
) -> None:
    """60 sources with five rows each, of which batches get two, others in each epoch."""
    grouped = shutil.copytree(scored, fairseq.folder / "grouped")
    names = SplitNames(grouped, "train", "en", "de")
    rows = np.load(names.rows)
    rows["source"] //= 5
    np.save(names.rows, rows)

    def options(save_dir: str) -> list[str]:
        return [
            *("grouped", *value_options(save_dir, "--policy-weight", "0")[1:]),
            *("--rows-per-source", "2", "--batch-size", "6", "--max-epoch", "3"),
            *("--log-interval", "1", "--save-interval-updates", "2", "--disable-validation"),
        ]

    log = fairseq.run("train", *options("whole groups"))
    assert "grouped train: 300 scored rows of 60 sources" in log
    whole = losses_by_update(log)
    updates = len(whole) // 3
    assert len(whole) == 3 * updates
    assert len(set(whole.values())) == len(whole)
    fairseq.kill_at(f'"num_updates": "{updates + 3}"', "train", *options("killed groups"))
    resumed = losses_by_update(fairseq.run("train", *options("killed groups")))
    assert resumed == {update: whole[update] for update in whole if update >= min(resumed)}
    # training may save once or twice more before the kill arrives, but not reach the next epoch
    assert updates < min(resumed) <= 2 * updates
