"""fairseq's own flags by which two processes train together on CPUs, without torchrun."""

import socket


def options_of_ranks() -> list[list[str]]:
    """The options of rank 0 and of rank 1 of a new training."""
    address = f"tcp://127.0.0.1:{_free_port()}"
    return [
        [
            *("--ddp-backend", "legacy_ddp", "--distributed-backend", "gloo"),
            *("--distributed-world-size", "2", "--distributed-rank", str(rank)),
            *("--distributed-init-method", address, "--distributed-no-spawn"),
        ]
        for rank in range(2)
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
