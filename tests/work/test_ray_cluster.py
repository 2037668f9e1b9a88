"""A Ray cluster as engine: the same chunks, whatever happens to actors. Needs the extra `ray`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairseq_mcts.work import Staff, WorkError
from fairseq_mcts.work.ray_cluster import RayCluster
from tests.work.test_engines import squares
from tests.work.toy import Squares, make_job

pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two nodes with a CPU each."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(**node)
    cluster.wait_for_nodes()
    yield cluster.address
    cluster.shutdown()


def test_all_chunks_are_made_though_an_actor_is_lost(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = make_job(tmp_path / "chunks")
    job.store.begin(job.settings, {})
    with Staff(RayCluster(address), Squares(deadly=(3,), once_in=tmp_path)) as staff:
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    told = capsys.readouterr().err
    assert told.count("an actor was lost") == 1
    assert "toy: 23/23 rows (100.0%)" in told


def test_what_work_refuses_is_said(address: str) -> None:
    with (
        Staff(RayCluster(address, workers=1), Squares(refused=True)) as staff,
        pytest.raises(WorkError, match=r"--nothing: can't be squared"),
    ):
        staff.workers()


def test_a_cluster_that_is_not_there_is_named() -> None:
    with (
        Staff(RayCluster("127.0.0.1:1"), Squares()) as staff,
        pytest.raises(WorkError, match=r"--ray-address 127\.0\.0\.1:1: nobody answers"),
    ):
        staff.workers()
