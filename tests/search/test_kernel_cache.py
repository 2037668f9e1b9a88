"""Compiled kernels are kept where there is room for them; a damaged cache is made anew."""

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fairseq_mcts.search import kernel_cache

#: one small kernel, called once
CALL = """
import numpy as np
from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.kernel_cache import CACHE_FOLDER
import kernel_of_the_test
print(CACHE_FOLDER, kernel_of_the_test.double(21), kernel_of_the_test.double.stats.cache_hits)
"""
KERNEL = """
from fairseq_mcts.search.compiled import compiled

@compiled
def double(number):
    return 2 * number
"""


def run(
    folder: Path, before: Callable[[], object] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`before` is called in the process itself."""
    with start(folder, before, **environment) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start(
    folder: Path, before: Callable[[], object] | None = None, **environment: str
) -> subprocess.Popen[str]:
    (folder / "kernel_of_the_test.py").write_text(KERNEL)
    own = {name: one for name, one in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    own.pop("XDG_CACHE_HOME", None)
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", CALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**own, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=folder,
        preexec_fn=before,  # noqa: PLW1509 - tests have no threads here
    )


def test_the_second_process_finds_the_kernels_of_the_first(tmp_path: Path) -> None:
    for hits in ("Counter()", "Counter({(int64,): 1})"):
        ended = run(tmp_path, HOME=str(tmp_path / "home"))
        assert ended.stdout.startswith(str(tmp_path / "home" / ".cache")), ended.stderr
        assert ended.stdout.strip().endswith(f"42 {hits}")


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, pattern: str) -> None:
    home = {"HOME": str(tmp_path)}
    run(tmp_path, **home)
    [file] = (tmp_path / ".cache").rglob(pattern)
    file.write_bytes(file.read_bytes()[:20])
    ended = run(tmp_path, **home)
    assert " 42 Counter()" in ended.stdout, ended.stderr
    assert "damaged, so compiled anew" in ended.stderr
    assert run(tmp_path, **home).stdout.strip().endswith("42 Counter({(int64,): 1})")


def test_without_a_home_kernels_lie_in_a_private_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kernel_cache.Path, "home", no_home)
    monkeypatch.setattr(kernel_cache.numba_config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = kernel_cache._cache_folder().parent
    assert folder == tmp_path / f"fairseq_mcts-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700

    folder.chmod(0o777)  # somebody else could have put kernels there
    assert folder not in kernel_cache._cache_folder().parents
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert folder not in kernel_cache._cache_folder().parents


def test_a_folder_that_cannot_be_written_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(kernel_cache.numba_config, "CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kernel_cache._cache_folder().parent == tmp_path / "cache" / "fairseq_mcts"


def test_two_processes_on_a_cold_cache_get_along(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path / "home")}
    for process in [start(tmp_path, **home) for _ in range(4)]:
        out, err = process.communicate()
        assert " 42 Counter" in out, err
    assert run(tmp_path, **home).stdout.strip().endswith("42 Counter({(int64,): 1})")


def test_on_a_full_disk_kernels_are_compiled_and_not_kept(tmp_path: Path) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    ended = run(tmp_path, full, HOME=str(tmp_path / "home"))
    assert " 42 Counter()" in ended.stdout, ended.stderr
    assert "can't be written, so not kept" in ended.stderr


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of prctl(2) and capabilities(7)


def obey_permissions() -> None:
    """As any user: otherwise root writes to folders that nobody may write to."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)


def test_read_only_homes_and_caches_are_passed_over(tmp_path: Path) -> None:
    read_only, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    read_only.mkdir(mode=0o555)
    places = {"HOME": str(read_only), "NUMBA_CACHE_DIR": str(read_only), "TMPDIR": str(temporary)}
    for hits in ("Counter()", "Counter({(int64,): 1})"):
        ended = run(tmp_path, obey_permissions, **places)
        assert ended.stdout.startswith(f"{temporary}/fairseq_mcts-{os.getuid()}/"), ended.stderr
        assert ended.stdout.strip().endswith(f"42 {hits}")
    assert not list(read_only.iterdir())


def test_where_nothing_can_be_written_kernels_are_compiled_each_time(tmp_path: Path) -> None:
    """Not even to the folder for temporary files."""
    read_only = tmp_path / "everything"
    read_only.mkdir(mode=0o555)
    ended = run(tmp_path, obey_permissions, HOME=str(read_only), TMPDIR=str(read_only))
    assert " 42 Counter()" in ended.stdout, ended.stderr


def test_without_any_place_for_temporary_files_there_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container whose root is read-only, and without /tmp."""

    def no_place() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", no_place)
    monkeypatch.setattr(kernel_cache.numba_config, "CACHE_DIR", "")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    folder = kernel_cache._cache_folder()
    with pytest.raises(OSError):
        folder.mkdir(parents=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_home_and_name_has_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """As containers give them: a number that nobody knows, and no HOME."""
    stranger = 54_321
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(kernel_cache.numba_config, "CACHE_DIR", "")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr(kernel_cache.tempfile, "tempdir", folder)
        reading, writing = os.pipe()
        if os.fork() == 0:  # the stranger may be unable to start this interpreter
            os.setuid(stranger)
            os.write(writing, str(kernel_cache._cache_folder().parent).encode())
            os._exit(0)
        os.close(writing)
        found = os.read(reading, 1000).decode()
        os.close(reading)
        os.wait()
        assert found == f"{folder}/fairseq_mcts-{stranger}"
