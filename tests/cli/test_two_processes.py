"""Training with two processes on CPUs, by the one combination of fairseq's flags that works."""

import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def train_on_two_ranks(fairseq: Any, options: list[str]) -> str:
    """Start both ranks, wait for both and return what rank 0 logs."""
    address = f"tcp://127.0.0.1:{free_port()}"
    ranks = [
        fairseq.start(
            "train",
            *options,
            *("--ddp-backend", "legacy_ddp", "--distributed-backend", "gloo"),
            *("--distributed-world-size", "2", "--distributed-rank", str(rank)),
            *("--distributed-init-method", address, "--distributed-no-spawn"),
        )
        for rank in range(2)
    ]
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
