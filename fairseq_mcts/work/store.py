"""Finished chunks on disk: each whole or not there, and known by the settings it was made with."""

import contextlib
import errno
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.data.files import complete_file
from fairseq_mcts.work.chunk import Arrays
from fairseq_mcts.work.errors import DamagedChunkError, WorkError
from fairseq_mcts.work.settings import Settings, differences, settings_digest

_SETTINGS = "settings.json"
_DIGEST = "digest"  # the array that names the settings of a chunk
_OF_DAMAGE = (None, errno.EINVAL)  # OSError of a bad archive: it points to before its begin
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class ChunkStore:
    """The chunks of one corpus; any number of processes may add to them."""

    folder: Path

    def path(self, chunk: int) -> Path:
        """The file of a chunk."""
        return self.folder / f"chunk-{chunk:08d}.npz"

    def begin(self, settings: Settings, origin: Settings) -> None:
        """Makes the store, or joins it; one that was begun with other settings is refused.

        `origin` (paths) is recorded for people and may differ between machines.
        """
        with explained_if_full(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.is_begun():
                content = {"settings": settings, "origin": origin}
                with complete_file(self.folder / _SETTINGS) as stream:
                    stream.write(json.dumps(content, indent=2, ensure_ascii=False).encode())
        self.refuse_other(settings)

    def refuse_other(self, settings: Settings) -> None:
        """Refuses settings that a store which exists was not begun with."""
        if self.is_begun() and (changed := differences(self.settings()[0], settings)):
            raise WorkError(
                f"{self.folder} was begun with other settings: {'; '.join(changed)}. Finish it "
                "with the old ones, or delete it and begin anew"
            )

    def settings(self) -> tuple[Settings, Settings]:
        """Settings and origin that the store was begun with."""
        path = self.folder / _SETTINGS
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return dict(content["settings"]), dict(content["origin"])
        except (ValueError, TypeError, KeyError) as error:
            raise WorkError(
                f"{path}: does not tell how the chunks beside it were made ({error!r}); put it "
                "back as it was, or delete the folder and begin anew"
            ) from error

    def is_begun(self) -> bool:
        """Whether the store exists."""
        return (self.folder / _SETTINGS).exists()

    def finished(self) -> set[int]:
        """Numbers of the chunks that are there."""
        found = set()
        for path in self.folder.glob("chunk-*.npz"):
            number = path.stem.partition("-")[2]
            if not number.isdecimal() or path != self.path(int(number)):
                raise WorkError(f"{path}: is no chunk; move it out of the folder")
            found.add(int(number))
        return found

    def write(self, chunk: int, settings: Settings, arrays: Arrays) -> None:
        """Adds a chunk, whole or not at all."""
        content: dict[str, Any] = {_DIGEST: np.array(settings_digest(settings)), **arrays}
        # in memory first: a full disk then shows as such, not as an error of the format
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **content)
        with explained_if_full(self.folder), complete_file(self.path(chunk)) as stream:
            stream.write(packed.getbuffer())

    def read(self, chunk: int, digest: str, names: tuple[str, ...]) -> Arrays:
        """These arrays of a chunk, which must be of the settings with this digest."""
        path = self.path(chunk)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                found = str(arrays[_DIGEST])
                content = {name: arrays[name] for name in names}
        except MemoryError:
            raise
        except Exception as error:  # a damaged file fails in any way
            if isinstance(error, OSError) and error.errno not in _OF_DAMAGE:
                raise  # of the disk or the process: the chunk itself may be whole
            raise DamagedChunkError(
                chunk,
                f"{path} is damaged ({error!r}); delete it and run the command that made it again",
            ) from error
        if found != digest:
            raise DamagedChunkError(
                chunk,
                f"{path} was made with other settings than {_SETTINGS} says; delete it and run the "
                "command that made it again",
            )
        return content

    def discard(self, chunk: int) -> None:
        """Removes a chunk that is to be made again."""
        self.path(chunk).unlink(missing_ok=True)

    def remove(self) -> None:
        """Deletes everything; what was made of it must be complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another store may be in there, or come
            self.folder.parent.rmdir()


@contextmanager
def explained_if_full(folder: Path) -> Iterator[None]:
    """Turns the error of a full disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise WorkError(
            f"{folder}: no room left to write ({error.strerror}). Make room and give the same "
            "command again: what is finished is kept"
        ) from error
