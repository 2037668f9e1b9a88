"""Who does the work of a command, and which part of it."""

import os
from argparse import Namespace

from fairseq_mcts.work import Engine, Here, Processes, Shard
from fairseq_mcts.work.options import threads_of


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
    return Processes(options.workers, cpus, [] if options.cpu else gpus())


def gpus() -> list[str]:
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
