"""Training with two processes on CPUs, by the one combination of fairseq's flags that works."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.two_ranks import options_of_ranks

pytestmark = pytest.mark.slow(seconds=60)


def train_on_two_ranks(fairseq: Any, options: list[str]) -> str:
    """Start both ranks, wait for both and return what rank 0 logs."""
    ranks = [fairseq.start("train", *options, *more) for more in options_of_ranks()]
    outputs = [process.communicate() for process in ranks]
    for process, (_, err) in zip(ranks, outputs, strict=True):
        assert process.returncode == 0, err[-4000:]
    log: str = outputs[0][0]
    return log


def progress(log: str) -> list[tuple[str, ...]]:
    """Epoch, loss, gradient norm and number of updates, as printed."""
    pattern = r"\| train \| epoch (\d+) \| loss ([\d.]+).* num_updates (\d+) .* gnorm ([\d.]+)"
    return re.findall(pattern, log)


def test_two_processes_train_as_one_with_twice_the_batches_and_resume(
    fairseq: Any, training_options: Callable[[str], list[str]]
) -> None:
    # each rank has random numbers of its own, so only a model without dropout can be compared
    alone = fairseq.run(
        "train",
        *training_options("alone"),
        *("--dropout", "0", "--max-epoch", "1", "--update-freq", "2"),
    )
    options = [*training_options("pair"), "--dropout", "0"]
    pair = train_on_two_ranks(fairseq, [*options, "--max-epoch", "1"])

    [(epoch, loss, updates, _)] = progress(pair)
    assert (epoch, updates) == ("001", "3")
    assert progress(pair) == progress(alone)

    # resuming sends the checkpoint from rank 0 to rank 1, which torch loads safely as well
    resumed = train_on_two_ranks(fairseq, [*options, "--max-epoch", "2"])

    [(epoch, next_loss, updates, _)] = progress(resumed)
    assert (epoch, updates) == ("002", "6")
    assert float(next_loss) < float(loss)
