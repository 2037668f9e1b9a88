"""Is the output of a Ray cluster whose nodes come and go the same as that of one process?

    python benchmarks/ray_nodes.py --work FOLDER -- COMMAND … --out {out}

Three nodes are started on this machine, each with one CPU. While the command runs on them, one node
is killed after a third of the chunks, and another joins after two thirds.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from interrupted import content, num_chunks, run
from ray.cluster_utils import Cluster

_NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
_LOOK = 0.1


def await_chunks(process: subprocess.Popen[bytes], out: Path, count: int) -> None:
    """Waits until so many chunks are there."""
    while num_chunks(out) < count:
        if process.poll() is not None:
            raise RuntimeError(f"the command ended with {process.returncode} after too few chunks")
        time.sleep(_LOOK)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Prints what was done; whether the outputs are the same."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for both outputs")
    parser.add_argument("--chunks", type=int, required=True, help="how many the command makes")
    parser.add_argument("command", nargs="+", help="behind --; {out} is its output folder")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    whole, spread, log = (options.work / name for name in ("whole", "spread", "log.txt"))
    for folder in (whole, spread):
        shutil.rmtree(folder, ignore_errors=True)
    run([*options.command, "--workers", "1"], whole, log)
    cluster = Cluster(initialize_head=True, head_node_args=_NODE)
    nodes = [cluster.add_node(**_NODE) for _ in range(2)]
    cluster.wait_for_nodes()
    command = [part.format(out=spread) for part in options.command]
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [*command, "--engine", "ray", "--ray-address", cluster.address],
            stdout=stream,
            stderr=stream,
        )
    try:
        await_chunks(process, spread, options.chunks // 3)
        killed_at = num_chunks(spread)
        cluster.remove_node(nodes[0], allow_graceful=False)
        await_chunks(process, spread, 2 * options.chunks // 3)
        joined_at = num_chunks(spread)
        cluster.add_node(**_NODE)
        code = process.wait()
    finally:
        process.kill()
        cluster.shutdown()
    is_same = code == 0 and content(whole) == content(spread)
    print(
        f"three nodes, one killed after {killed_at} of {options.chunks} chunks, one joined after "
        f"{joined_at}; the output is {'the same as' if is_same else 'NOT THAT'} of --workers 1: "
        f"{', '.join(sorted(content(whole)))}"
    )
    return is_same


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
