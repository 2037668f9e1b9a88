"""The finished chunks of a split, on disk; any number of processes may add to them."""

import contextlib
import json
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.data.files import complete_file
from fairseq_mcts.data.scored_folder import ScoredRows, SplitNames
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.relabelling.settings import (
    RelabellingError,
    Settings,
    differences,
    settings_digest,
)

FOLDER = "relabel-chunks"  # inside the output folder, until the merge
_SETTINGS = "settings.json"
_SENTENCES = ("sources", "samples", "references")


class Counts(NamedTuple):
    """What a chunk says beside its rows."""

    rows: int
    skipped: int  # sources left out because they are too long, or empty lines
    empty: int  # samples without any text
    exact: int  # samples equal to the reference


@dataclass(frozen=True)
class ChunkStore:
    """Chunk c holds the rows made of the c-th `chunk_rows` rows of the corpus."""

    names: SplitNames  # of the split that the chunks become

    @property
    def folder(self) -> Path:
        return self.names.folder / FOLDER / self.names.pair

    def path(self, chunk: int) -> Path:
        return self.folder / f"chunk-{chunk:08d}.npz"

    def begin(self, settings: Settings, origin: Settings) -> None:
        """Makes the store, or joins it; one that was begun with other settings is refused.

        `origin` (paths) is recorded for people and may differ between machines.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.is_begun():
            with complete_file(self.folder / _SETTINGS) as stream:
                content = {"settings": settings, "origin": origin}
                stream.write(json.dumps(content, indent=2, ensure_ascii=False).encode())
        self.refuse_other(settings)

    def refuse_other(self, settings: Settings) -> None:
        """Refuses settings that a store which exists was not begun with."""
        if self.is_begun() and (changed := differences(self.settings()[0], settings)):
            raise RelabellingError(
                f"{self.folder} was begun with other settings: {'; '.join(changed)}. Finish it "
                "with the old ones, or delete it and begin anew"
            )

    def settings(self) -> tuple[Settings, Settings]:
        """Settings and origin that the store was begun with; refuses one that does not exist."""
        path = self.folder / _SETTINGS
        if not self.is_begun():
            raise RelabellingError(f"{path} does not exist: nothing was relabelled here yet")
        content = json.loads(path.read_text(encoding="utf-8"))
        return content["settings"], content["origin"]

    def is_begun(self) -> bool:
        """Whether the store exists."""
        return (self.folder / _SETTINGS).exists()

    def finished(self) -> set[int]:
        """Numbers of the chunks that are there."""
        return {int(path.stem.partition("-")[2]) for path in self.folder.glob("chunk-*.npz")}

    def write(self, chunk: int, settings: Settings, rows: ScoredRows, counts: Counts) -> None:
        """Adds a chunk, whole or not at all."""
        arrays: dict[str, Any] = {
            "digest": np.array(settings_digest(settings)),
            "counts": np.array(counts, np.int64),
            "scores": rows.scores,
            "rows": rows.rows,
        }
        for name in _SENTENCES:
            sentences: TokenRows = getattr(rows, name)
            arrays[f"{name}.tokens"] = sentences.tokens.astype(np.int32)
            arrays[f"{name}.sizes"] = sentences.sizes
        with complete_file(self.path(chunk)) as stream:
            np.savez(stream, allow_pickle=False, **arrays)

    def read_counts(self, chunk: int, digest: str) -> Counts:
        """The figures of a chunk, which must be of the settings with this digest."""
        with self._open(chunk) as arrays:
            if str(arrays["digest"]) != digest:
                raise RelabellingError(
                    f"{self.path(chunk)} was made with other settings than {_SETTINGS} says; "
                    "delete it and relabel again"
                )
            return Counts(*arrays["counts"].tolist())

    def read(self, chunk: int) -> ScoredRows:
        """The rows of a chunk."""
        with self._open(chunk) as arrays:
            sources, samples, references = (
                TokenRows(arrays[f"{name}.tokens"], arrays[f"{name}.sizes"]) for name in _SENTENCES
            )
            return ScoredRows(sources, samples, references, arrays["scores"], arrays["rows"])

    def remove(self) -> None:
        """Deletes the chunks; the split must be complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another split's chunks may be in there, or come
            self.folder.parent.rmdir()

    def _open(self, chunk: int) -> Any:
        try:
            return np.load(self.path(chunk), allow_pickle=False)
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise RelabellingError(
                f"{self.path(chunk)} is damaged ({error}); delete it and relabel again"
            ) from error
