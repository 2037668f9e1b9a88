"""Options of commands whose work is done by workers: how many there are, and where."""

from argparse import Namespace
from typing import Any

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
    add_threads_option(group, "threads of each worker, and the CPUs that Ray reserves for it")


def add_threads_option(group: Any, meaning: str) -> None:
    """--cpus-per-worker."""
    group.add_argument("--cpus-per-worker", type=int, metavar="N", help=f"{meaning} (default: 1)")


def threads_of(options: Namespace) -> int:
    """Threads of each worker."""
    return options.cpus_per_worker or 1
