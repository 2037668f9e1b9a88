"""Where compiled kernels are kept, and a cache of numba's that is no reason to fail."""

import contextlib
import hashlib
import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config
from numba.core.caching import FunctionCache

logger = logging.getLogger(__name__)


def _source_digest() -> str:
    """Of all sources of this package: numba looks at the file of a function alone, not at those of
    the functions that it calls."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _candidates() -> Iterator[Path]:
    """Folders that may hold the cache, the best first."""
    for base in (numba_config.CACHE_DIR, os.environ.get("XDG_CACHE_HOME")):
        if base:
            yield Path(base) / "fairseq_mcts"
    with contextlib.suppress(RuntimeError):  # a user without a home directory, as in containers
        yield Path.home() / ".cache" / "fairseq_mcts"
    with contextlib.suppress(OSError):  # no place for temporary files, as where nothing is writable
        shared = Path(tempfile.gettempdir()) / f"fairseq_mcts-{os.getuid()}"
        if _is_private(shared):
            yield shared


def _is_private(folder: Path) -> bool:
    """Whether a folder in a place where all users write is this user's own, or can be made so.

    Kernels are loaded as they lie there: what others could write might run their code.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    is_folder = stat.S_ISDIR(status.st_mode)
    return is_folder and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_folder() -> Path:
    """The first folder that serves."""
    for folder in _candidates():
        if _is_writable(folder):
            return folder / f"kernels-{_source_digest()}"
    return Path(os.devnull) / "fairseq_mcts"  # nowhere: compiled in every process


CACHE_FOLDER = _cache_folder()


class ForgivingCache(FunctionCache):  # type: ignore[misc]
    """numba's, but what can't be read is compiled anew, and what can't be written is not kept."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file fails in any way
            logger.warning("%s: damaged, so compiled anew (%r)", self.cache_path, error)
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # no room, or folders that have gone
            logger.warning("%s: can't be written, so not kept (%r)", self.cache_path, error)

    def _forget(self) -> None:
        with contextlib.suppress(OSError):  # then it is damaged in the next run, too
            self.flush()
