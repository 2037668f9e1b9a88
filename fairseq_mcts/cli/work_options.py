"""Options of commands whose work is cut into chunks: who does it, and where."""

import os
from argparse import Namespace
from typing import Any

from fairseq_mcts.work import Engine, Here, Processes, Shard

_ENGINES = ("processes", "ray")


def add_engine_options(group: Any) -> None:
    """--workers, --engine and what belongs to them."""
    add = group.add_argument
    add(
        "--workers",
        type=int,
        metavar="N",
        help="processes that share the work (default: this one alone); with --engine ray at most "
        "so many actors (default: as many as the cluster has room for)",
    )
    add(
        "--engine",
        choices=_ENGINES,
        default=_ENGINES[0],
        help="where workers are: processes of this machine or a Ray cluster (default: %(default)s)",
    )
    add(
        "--ray-address",
        metavar="ADDRESS",
        help="of --engine ray: the cluster, as HOST:PORT or auto (default: one of this machine "
        "alone)",
    )
    add(
        "--cpus-per-worker",
        type=int,
        metavar="N",
        help="threads of each worker, and the CPUs that Ray reserves for it (default: 1)",
    )


def make_engine(options: Namespace) -> Engine:
    """What the options ask for; refuses those that would have no effect."""
    cpus = threads_of(options)
    if options.engine == "ray":
        from fairseq_mcts.work.ray_cluster import RayCluster

        return RayCluster(options.ray_address, options.workers, cpus, gpus=not options.cpu)
    if options.ray_address is not None:
        raise ValueError("--ray-address: has no effect without --engine ray")
    if options.workers is None:
        return Here()
    return Processes(options.workers, cpus, [] if options.cpu else _gpus())


def threads_of(options: Namespace) -> int:
    """Threads of each worker."""
    return options.cpus_per_worker or 1


def _gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible:
        return visible.split(",")
    return [str(number) for number in range(torch.cuda.device_count())]


def parse_shard(text: str) -> Shard:
    """I/N, as --shard takes it."""
    index, slash, count = text.partition("/")
    if not slash or not index.isdecimal() or not count.isdecimal():
        raise ValueError(f"--shard {text}: expected I/N, for example 0/8")
    return checked_shard(int(index), int(count))


def checked_shard(index: int, count: int) -> Shard:
    """Shard number `index` of `count`, the first of which is 0."""
    if not 0 <= index < count:
        raise ValueError(f"--shard {index}: must lie in 0 … {count - 1}")
    return Shard(index, count)
