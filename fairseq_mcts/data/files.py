"""Files that appear complete or not at all, and digests that tell whether two are the same."""

import hashlib
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

_BLOCK = 2**22  # bytes read at a time


@contextmanager
def complete_file(path: Path, *, written_in: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write that gets its name once it is whole and on disk.

    A process killed at any moment leaves the old file or the new one under `path`, never half of
    one; other processes on any machine may do the same at the same time. Until then the file lies
    in the folder `written_in` (of the same file system), or beside `path`.
    """
    folder = path.parent if written_in is None else written_in
    unfinished = folder / f"{path.name}.{process_name()}.part"
    try:
        with unfinished.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        publish(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)  # on a full disk half a file would be in the way
        raise


def publish(finished: Path, path: Path) -> None:
    """Gives a file that is on disk its name, and makes sure that the name is on disk too."""
    os.replace(finished, path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Waits until a file's content, or a folder's list of names, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def process_name() -> str:
    """A name that no other running process of a cluster has."""
    return f"{socket.gethostname()}-{os.getpid()}"


def by_content(options: Mapping[str, Any]) -> dict[str, Any]:
    """The same options, but for files that they name, which count by their content."""
    return {
        name: digest_of_files([Path(value)])
        if isinstance(value, str) and Path(value).is_file()
        else value
        for name, value in options.items()
    }


def digest_of_files(paths: Iterable[Path]) -> str:
    """A digest of the contents, not of the names: a copied file has the same one."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as stream:
            digest.update(f"{os.fstat(stream.fileno()).st_size} ".encode())
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
