"""Compiled kernels are kept where there is room for them; a damaged cache is made anew."""

import os
import subprocess
import sys
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


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "kernel_of_the_test.py").write_text(KERNEL)
    own = {name: one for name, one in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    own.pop("XDG_CACHE_HOME", None)
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", CALL],
        capture_output=True,
        text=True,
        check=False,
        env={**own, "PYTHONPATH": path, **environment},
        cwd=folder,
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
