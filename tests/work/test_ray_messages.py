"""What is said where a Ray cluster can't be had, or has no room: without Ray itself."""

import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from fairseq_mcts.work import Staff, WorkError, ray_cluster
from fairseq_mcts.work.ray_cluster import RayCluster
from tests.work.toy import Squares


class FakeRay:
    """A cluster of one node with two CPUs, which is ended after some looks at it."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.fault: Exception | None = None
        self.looks = count()

    def init(self, *, address: str, **options: object) -> None:
        self.addresses.append(address)
        if self.fault is not None:
            raise self.fault

    def remote(self, actor: type) -> "FakeRay":
        return self

    def options(self, **given: object) -> "FakeRay":
        return self

    def nodes(self) -> list[dict[str, Any]]:
        if next(self.looks) == 3:
            raise KeyboardInterrupt
        return [{"Alive": True, "Resources": {"CPU": 2.0}}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def shutdown(self) -> None:
        pass


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRay]:
    """In place of the real one."""
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr(ray_cluster, "_SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setenv("RAY_ADDRESS", "elsewhere:1")
    yield fake


@pytest.mark.parametrize(
    ("address", "asked", "blamed"),
    [(None, "local", "--engine ray"), ("auto", "auto", "--ray-address auto")],
)
def test_a_cluster_that_does_not_start_is_blamed_on_what_was_given(
    ray: FakeRay, address: str | None, asked: str, blamed: str
) -> None:
    """Without an address it is one of this machine, whatever else runs or RAY_ADDRESS says."""
    ray.fault = ConnectionError("nothing there")
    with (
        Staff(RayCluster(address), Squares()) as staff,
        pytest.raises(WorkError, match=rf"^{blamed}: nothing there$"),
    ):
        staff.workers()
    assert ray.addresses == [asked]


def test_a_machine_that_has_too_few_cpus_is_not_waited_for(ray: FakeRay) -> None:
    with (
        Staff(RayCluster(cpus=4), Squares()) as staff,
        pytest.raises(WorkError, match=r"^--cpus-per-worker 4: this machine does not have so many"),
    ):
        staff.workers()


def test_a_node_that_has_enough_cpus_is_waited_for(
    ray: FakeRay, capsys: pytest.CaptureFixture[str]
) -> None:
    with Staff(RayCluster("auto", cpus=4), Squares()) as staff, pytest.raises(KeyboardInterrupt):
        staff.workers()
    told = capsys.readouterr().err
    assert told == "--cpus-per-worker 4: no node has so many CPUs; waiting for one\n"
