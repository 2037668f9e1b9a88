"""fairseq-mcts-sweep by workers that are lost, on a Ray cluster, in a folder that others hold."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fairseq_mcts.cli import sweep
from fairseq_mcts.work import locked
from tests.cli.test_sweep import MCTS, arguments, table, trials, without_seconds
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained
from tests.work.ray_nodes import address  # noqa: F401 - a fixture

GRID = (*MCTS[:-1], "mcts-c-puct=0.5,2,8,16")


class Killer(threading.Thread):
    """Kills a process whose command holds `name` as soon as the first trial is finished."""

    def __init__(self, out: Path, name: bytes) -> None:
        super().__init__(daemon=True)
        self._out = out
        self._name = name
        self.killed = 0

    def run(self) -> None:
        while not list(self._out.glob("trial-*.json")):
            time.sleep(0.01)
        for path in Path("/proc").glob("[0-9]*"):
            try:
                is_meant = self._name in (path / "cmdline").read_bytes()
                is_descendant = os.getpid() in ancestors(int(path.name))
            except OSError:  # it has ended
                continue
            if is_meant and is_descendant:
                os.kill(int(path.name), signal.SIGKILL)
                self.killed += 1
                return


def ancestors(process: int) -> set[int]:
    found = set()
    while process > 1:
        text = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
        process = int(text.split()[1])
        found.add(process)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "ray"])
def test_a_worker_that_is_killed_changes_nothing(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    engine: str,
) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    sweep.main(arguments(trained, alone, *GRID, "--workers", "1"))
    expected = table(capsys.readouterr().out)

    more, name = ["--workers", "2"], b"worker_process"
    if engine == "ray":
        more, name = ["--engine", "ray"], b"ray::RayWorker"
        more += ["--ray-address", request.getfixturevalue("address")]
    killer = Killer(shared, name)
    killer.start()
    sweep.main(arguments(trained, shared, *GRID, *more))
    killer.join()
    said = capsys.readouterr()
    assert killer.killed == 1
    assert said.err.count("a worker was lost") == 1
    assert table(said.out) == expected
    assert without_seconds(shared) == without_seconds(alone)


def test_a_cluster_that_is_not_there_is_refused(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("ray")
    with pytest.raises(SystemExit) as end:
        sweep.main(
            arguments(trained, tmp_path, *MCTS, "--engine", "ray", "--ray-address", "127.0.0.1:1")
        )
    assert end.value.code == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert "fairseq-mcts-sweep: error: --ray-address 127.0.0.1:1: nobody answers" in complaint
    assert trials(tmp_path) == {}


@pytest.mark.slow
def test_a_folder_where_another_is_at_work_is_shared_by_studies_alone(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("optuna")
    grid = arguments(trained, tmp_path, "--sweep", "beam=1,2")
    study = [*grid, "--storage", f"sqlite:///{tmp_path}/study.db"]
    for command, shared in ((grid, False), (study, False), (grid, True)):
        with locked(tmp_path, tmp_path, shared=shared), pytest.raises(SystemExit) as end:
            sweep.main(command)
        assert end.value.code == 2
        assert f"{tmp_path}: another command is at work there" in capsys.readouterr().err
    with locked(tmp_path, tmp_path, shared=True):
        sweep.main(study)
    assert len(trials(tmp_path)) == 2


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_same_command_goes_on(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
) -> None:
    """In a process whose files may not be larger than so many bytes, as under a quota."""
    given = arguments(trained, tmp_path, "--sweep", "beam=1,2")
    ended = run(given, 500)
    assert ended.returncode == 2
    [complaint] = [line for line in ended.stderr.splitlines() if "error" in line]
    assert f"{tmp_path}: no room left to write" in complaint
    assert "give the same command again" in complaint
    assert not list(tmp_path.iterdir())
    assert run(given, None).returncode == 0
    assert len(trials(tmp_path)) == 2


def run(given: list[str], limit: int | None) -> subprocess.CompletedProcess[str]:
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "fairseq_mcts.cli.sweep", *given],
        preexec_fn=limited,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
