"""Training with two processes on CPUs, as torchrun starts them."""

import os
import re
import subprocess
from collections.abc import Callable

import pytest

from tests.console import REPOSITORY, SCRIPTS, Fairseq

pytestmark = pytest.mark.slow(seconds=60)


def train_by_torchrun(fairseq: Fairseq, *options: str) -> tuple[int, str, str]:
    """Start two processes; return how torchrun ends and what both print."""
    page = (REPOSITORY / "docs" / "training-on-several.md").read_text(encoding="utf-8")
    [torchrun] = re.findall(r'^torchrun (.+) "\$\(which fairseq-train\)" .* ', page, re.M)
    process = subprocess.run(
        [str(SCRIPTS / "torchrun"), *torchrun.split(), *fairseq.command("train", *options)],
        cwd=fairseq.folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)},
    )
    return process.returncode, process.stdout, process.stderr


def progress(log: str) -> list[tuple[str, ...]]:
    """Epoch, loss, gradient norm and number of updates, as printed."""
    pattern = r"\| train \| epoch (\d+) \| loss ([\d.]+).* num_updates (\d+) .* gnorm ([\d.]+)"
    return re.findall(pattern, log)


def test_two_processes_train_as_one_with_twice_the_batches_and_resume(
    fairseq: Fairseq, training_options: Callable[[str], list[str]]
) -> None:
    # each rank has random numbers of its own, so only a model without dropout can be compared
    alone = fairseq.run(
        "train",
        *training_options("alone"),
        *("--dropout", "0", "--max-epoch", "1", "--update-freq", "2"),
    )
    options = [*training_options("pair"), "--dropout", "0"]
    code, pair, err = train_by_torchrun(fairseq, *options, "--max-epoch", "1")
    assert code == 0, err[-4000:]

    [(epoch, loss, updates, _)] = progress(pair)
    assert (epoch, updates) == ("001", "3")
    assert progress(pair) == progress(alone)

    # resuming sends the checkpoint from rank 0 to rank 1, which torch loads safely as well
    code, resumed, err = train_by_torchrun(fairseq, *options, "--max-epoch", "2")
    assert code == 0, err[-4000:]

    [(epoch, next_loss, updates, _)] = progress(resumed)
    assert (epoch, updates) == ("002", "6")
    assert float(next_loss) < float(loss)
