"""A small Ray cluster on this machine; needs the extra `ray`."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two nodes with a CPU each."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # 15 by default, which takes for ever on a busy machine
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - that is its name
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(**node)
    cluster.wait_for_nodes()
    yield cluster.address
    cluster.shutdown()
