"""Two processes learn what one learns that takes two batches for each update."""

from typing import Any

import pytest
import torch

from tests.cli.two_ranks import options_of_ranks
from tests.training.scored_corpus import json_logs, saved_state

pytestmark = pytest.mark.slow

TRAINED = ("train_loss", "train_value_loss", "train_policy_loss", "train_gnorm")
VALIDATED = (
    *("valid_loss", "valid_value_mae", "valid_value_mae_finished", "valid_value_pearson"),
    *("valid_value_kendall_finished", "valid_value_ece", "valid_value_mae_part3"),
)


@pytest.mark.parametrize("criterion", ["value", "hybrid"])
def test_same_curve(fairseq: Any, policy: str, value_options: Any, criterion: str) -> None:
    def options(save_dir: str) -> list[str]:
        return [
            *value_options(f"{criterion}-{save_dir}", criterion=criterion),
            # each process has random numbers of its own: there must be nothing to use them for
            *("--teacher-path", policy, "--dropout", "0", "--max-epoch", "2"),
            *("--batch-size-valid", "3"),  # so that both have something to validate
        ]

    alone = fairseq.run("train", *options("alone"), "--update-freq", "2")
    waiting = [fairseq.launch("train", *options("pair"), *more) for more in options_of_ranks()]
    ranks = [wait() for wait in waiting]
    for rank in ranks:
        assert rank.code == 0, rank.err[-4000:]

    for tag, names in (("train", TRAINED), ("valid", VALIDATED)):
        expected, found = json_logs(alone, tag), json_logs(ranks[0].out, tag)
        assert len(found) == len(expected) == 2
        for one, other in zip(expected, found, strict=True):
            for name in names:
                assert other[name] == pytest.approx(one[name], rel=1e-3, abs=2e-4), name
    weights, others = (
        saved_state(fairseq.folder / f"{criterion}-{name}" / "checkpoint_last.pt")["model"]
        for name in ("alone", "pair")
    )
    for name, tensor in weights.items():
        torch.testing.assert_close(others[name], tensor, rtol=1e-3, atol=1e-4)
