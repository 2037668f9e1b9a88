"""One command at a time in a folder, but shards together."""

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from fairseq_mcts.work import Shard, WorkError, lock, locked, refuse_held

TEXT = "process 1 on nowhere since long ago"
HOLDER = """
import sys, time
from pathlib import Path
from fairseq_mcts.work import locked
with locked(Path(sys.argv[1]), Path("out")):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals wait first for those who just look."""
    monkeypatch.setattr(lock, "_SECONDS_TO_TRY", 0.05)


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


@pytest.mark.parametrize("shard", [None, Shard(0, 2)])
def test_who_looks_whether_it_could_hold_a_folder_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard: Shard | None
) -> None:
    """Looks last a moment: a command that starts just then waits for it."""
    monkeypatch.setattr(lock, "_SECONDS_TO_TRY", 30)
    path = tmp_path / "lock.lock"
    for attempt in (locked(tmp_path, Path("out"), shard), _refused(tmp_path, shard)):
        with path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            looker = threading.Thread(target=_let_go_soon, args=[stream])
            looker.start()
            with attempt:
                assert not looker.is_alive()


@contextlib.contextmanager
def _refused(folder: Path, shard: Shard | None) -> Iterator[None]:
    refuse_held(folder, Path("out"), shard)
    yield


def _let_go_soon(stream: IO[bytes]) -> None:
    time.sleep(0.1)
    fcntl.flock(stream, fcntl.LOCK_UN)


def test_a_dead_command_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "lock.lock").write_text(TEXT)  # what a command that was killed has left
    with (
        locked(tmp_path, Path("out"), shared=True),
        pytest.raises(WorkError, match=r"at work there: another process\. Wait"),
        locked(tmp_path, Path("out")),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_another_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "lock.lock"
    with locked(tmp_path, Path("out")):
        path.unlink()  # somebody tidied up
        path.write_text(TEXT)
    assert path.read_text() == TEXT


def test_locks_of_nfs_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a file can only be held alone by who has it open for writing."""
    flock = fcntl.flock

    def of_nfs(stream: IO[bytes], operation: int) -> None:
        mode = fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE
        if operation & fcntl.LOCK_EX and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(stream, operation)

    monkeypatch.setattr(fcntl, "flock", of_nfs)
    test_the_second_is_refused_and_told_who_holds_it(tmp_path)
    test_shards_work_together_but_not_the_same_twice(tmp_path)


def test_file_systems_without_locks_are_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(stream: IO[bytes], operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", unknown)
    with locked(tmp_path, Path("out")):
        refuse_held(tmp_path, Path("out"))
    assert capsys.readouterr().err.count("lock.lock: can't be locked") == 1


def test_a_disk_without_room_for_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with (
        pytest.raises(WorkError, match=r"no room left to write .* Make room and give the same"),
        locked(tmp_path / "new", Path("out")),
    ):
        pass
