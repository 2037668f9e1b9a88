"""From finished chunks to output files in the order of the input, a chunk at a time."""

import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.cli.generate_work import COUNTS, FIGURES
from fairseq_mcts.data.files import complete_file, publish, sync
from fairseq_mcts.progress import showing
from fairseq_mcts.work import (
    Chunk,
    ChunkStore,
    DamagedChunkError,
    Settings,
    differences,
    explained_if_full,
    settings_digest,
)


@dataclass(frozen=True)
class OutputFiles:
    """The files of one input in the output folder."""

    folder: Path
    name: str  # of the input
    plain_text: bool  # whether it is wanted; every chunk has it

    @property
    def texts(self) -> dict[str, Path]:
        """By the names of a chunk's texts."""
        return {
            "lines": self.folder / f"generate-{self.name}.txt",
            "plain_text": self.folder / f"translations-{self.name}.txt",
            "json_lines": self.folder / f"hypotheses-{self.name}.jsonl",
        }

    @property
    def record(self) -> Path:
        """How they were made; its presence tells that they are complete."""
        return self.folder / f"generate-{self.name}.json"

    def _made_with(self) -> Settings:
        try:
            return dict(json.loads(self.record.read_text(encoding="utf-8"))["settings"])
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"--out: {self.record}: does not tell how it was made ({error!r}); delete it, or "
                "give another folder"
            ) from error

    def wanted(self, settings: Settings) -> list[str]:
        """The names of the texts that are to be written."""
        chosen = {"plain_text": self.plain_text, "json_lines": settings["json_lines"]}
        return ["lines", *(name for name, is_wanted in chosen.items() if is_wanted)]

    def store(self) -> ChunkStore:
        """The chunks, until they are joined."""
        return ChunkStore(self.folder / "generate-chunks" / self.name)

    def is_complete(self, settings: Settings) -> bool:
        """Whether the output is there; that of other settings is never overwritten.

        Plain text that was not wanted before is in the lines.
        """
        if self.record.exists():
            if changed := differences(self._made_with(), settings):
                raise ValueError(
                    f"--out: {self.record} was made otherwise: {'; '.join(changed)}. Give another "
                    "folder, or delete it"
                )
            for name in self.wanted(settings):
                path = self.texts[name]
                if name == "plain_text" and not path.exists():
                    self._write_plain_text(settings["input"]["rows"])
                elif not path.exists():
                    raise ValueError(
                        f"--out: {path} is gone, which {self.record.name} tells of; put it back, "
                        f"or delete all files of {self.name} there to have it made again"
                    )
            return True
        if not self.store().is_begun():
            for path in self.texts.values():
                if path.exists():
                    raise ValueError(f"--out: would overwrite {path}; give another folder")
        return False

    def _write_plain_text(self, rows: int) -> None:
        """The first D line of each sentence; without one it has no translation."""
        texts = self.texts
        with (
            explained_if_full(self.folder),
            texts["lines"].open("rb") as lines,
            complete_file(texts["plain_text"]) as stream,
        ):
            written = 0  # sentences
            for line in lines:
                name, _, rest = line.partition(b"\t")
                if name.startswith(b"D-") and (number := int(name[2:])) >= written:
                    stream.write(b"\n" * (number - written) + rest.partition(b"\t")[2])
                    written = number + 1
            stream.write(b"\n" * (rows - written))


def join(files: OutputFiles, settings: Settings, chunks: Sequence[Chunk]) -> dict[str, Any]:
    """Writes the output that all chunks make up, deletes them, and returns its record.

    Files are made beside the chunks and moved when they are whole, the record last: a join that
    was killed is simply done again.
    """
    store = files.store()
    with explained_if_full(files.folder):
        record = _write(files, store, settings, chunks)
    store.remove()
    return record


def _write(
    files: OutputFiles, store: ChunkStore, settings: Settings, chunks: Sequence[Chunk]
) -> dict[str, Any]:
    digest = settings_digest(settings)
    wanted = files.wanted(settings)
    stage = store.folder / "joined"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir()
    paths = {name: stage / files.texts[name].name for name in wanted}
    counts = np.zeros(len(COUNTS), np.int64)
    left_out: list[dict[str, int]] = []
    failed: list[dict[str, Any]] = []
    with ExitStack() as stack:
        streams = {name: stack.enter_context(paths[name].open("wb")) for name in wanted}
        for chunk in showing("joining", chunks, "chunks"):
            arrays = store.read(chunk.number, digest, (*wanted, *FIGURES))
            ids = np.union1d(arrays["ids"], arrays["left_out"][:, 0])
            if ids.tolist() != list(chunk.rows):
                path = store.path(chunk.number)
                raise DamagedChunkError(
                    chunk.number,
                    f"{path} does not hold its sentences; delete it and run the command that made "
                    "it again",
                )
            for name in wanted:
                streams[name].write(arrays[name].tobytes())
            counts += arrays["counts"]
            left_out += [{"id": one, "tokens": two} for one, two in arrays["left_out"].tolist()]
            listed = json.loads(arrays["failures"].tobytes())
            failed += [{"id": number, "why": what} for number, what in listed]
    record = {
        "settings": settings,
        "settings_digest": digest,
        "origin": store.settings()[1],
        "counts": dict(zip(COUNTS, counts.tolist(), strict=True)),
        "left_out": left_out,
        "failed": failed,
    }
    of_record = stage / files.record.name
    of_record.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")
    for path in (*paths.values(), of_record):
        sync(path)
    for name in wanted:
        publish(paths[name], files.texts[name])
    publish(of_record, files.record)
    return record
