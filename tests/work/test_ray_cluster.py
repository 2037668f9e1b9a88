"""A Ray cluster as engine: the same chunks, whatever happens to actors. Needs the extra `ray`."""

from pathlib import Path

import pytest

from fairseq_mcts.work import Staff, WorkError
from fairseq_mcts.work.ray_cluster import RayCluster, _Crew
from tests.work.ray_nodes import address  # noqa: F401 - a fixture
from tests.work.test_engines import squares
from tests.work.toy import Squares, make_job

pytest.importorskip("ray")
pytestmark = pytest.mark.slow


def test_all_chunks_are_made_though_an_actor_is_lost(
    address: str,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = make_job(tmp_path / "chunks")
    job.store.begin(job.settings, {})
    with Staff(RayCluster(address), Squares(deadly=(3,), once_in=tmp_path)) as staff:
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    told = capsys.readouterr().err
    assert told.count("a worker was lost") == 1
    assert "toy: 23/23 rows (100.0%)" in told


def test_starts_that_are_lost_do_not_end_what_others_do(
    address: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_Crew, "most_losses", 1)
    job = make_job(tmp_path / "chunks")
    job.store.begin(job.settings, {})
    notes = tmp_path / "notes"
    notes.mkdir()
    with Staff(RayCluster(address), Squares(1.0, first_in=notes, deaths=1)) as staff:
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    assert "a worker was lost while it started" in capsys.readouterr().err


def test_what_work_refuses_is_said(address: str) -> None:  # noqa: F811
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
