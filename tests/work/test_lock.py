"""One command at a time in a folder, but shards together."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_mcts.work import Shard, WorkError, locked, refuse_held

HOLDER = """
import sys, time
from pathlib import Path
from fairseq_mcts.work import locked
with locked(Path(sys.argv[1]), Path("out")):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with locked(tmp_path, Path("out")):
        for shard in (None, Shard(0, 2)):
            with pytest.raises(WorkError, match=rf"out: another .* process {os.getpid()} on"):
                refuse_held(tmp_path, Path("out"), shard)
            with (
                pytest.raises(WorkError, match=f"process {os.getpid()} on"),
                locked(tmp_path, Path("out"), shard),
            ):
                pass
    refuse_held(tmp_path, Path("out"))
    with locked(tmp_path, Path("out")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_shards_work_together_but_not_the_same_twice(tmp_path: Path) -> None:
    with locked(tmp_path, Path("out"), Shard(0, 2)):
        with locked(tmp_path, Path("out"), Shard(1, 2)):
            for shard in (Shard(0, 2), Shard(1, 2), None):
                with pytest.raises(WorkError, match=f"process {os.getpid()} on"):
                    refuse_held(tmp_path, Path("out"), shard)
        with pytest.raises(WorkError, match="another command is at work"):
            refuse_held(tmp_path, Path("out"), None)
        refuse_held(tmp_path, Path("out"), Shard(1, 2))
    assert list(tmp_path.iterdir()) == []


def test_some_share_a_folder_but_not_with_one_that_wants_it_alone(tmp_path: Path) -> None:
    with locked(tmp_path, Path("out"), shared=True):
        with locked(tmp_path, Path("out"), shared=True):
            pass
        with (
            pytest.raises(WorkError, match="out: another command is at work there"),
            locked(tmp_path, Path("out")),
        ):
            pass
    with (
        locked(tmp_path, Path("out")),
        pytest.raises(WorkError, match=f"process {os.getpid()} on"),
        locked(tmp_path, Path("out"), shared=True),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_killed_command_holds_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    with pytest.raises(WorkError, match=f"process {process.pid} on"):
        refuse_held(tmp_path, Path("out"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with locked(tmp_path, Path("out")):
        pass
    assert list(tmp_path.iterdir()) == []
