"""What fairseq-mcts-generate translates: a binarised split, or the lines of a text file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from fairseq import utils

from fairseq_mcts.data.loading import split_names
from fairseq_mcts.data.text_file import TextFile


class Rows(NamedTuple):
    """Some rows as fairseq has them."""

    dataset: Any  # fairseq's
    indices: npt.NDArray[np.int64]  # of the rows in it, in their order
    first_id: int  # what is added to the dataset's own ids


class Input(Protocol):
    """Something to translate."""

    name: str  # in the names of files that are made of it
    kind: str
    files: Sequence[Path]  # that hold it

    def __len__(self) -> int: ...

    def rows(self, rows: range) -> Rows:
        """Some of its sentences."""
        ...


class Split:
    """A split of a binarised folder."""

    kind = "split"

    def __init__(self, task: Any, name: str) -> None:
        self.name = name
        folder = Path(utils.split_paths(task.cfg.data)[0])
        # a folder with scores holds further files of the split, which play no part
        names = split_names(task, name, folder)
        languages = (names.source_lang, names.target_lang)
        found = [*folder.glob(f"{name}.{'-'.join(languages)}.*")]
        found += [*folder.glob(f"{name}.{'-'.join(reversed(languages))}.*")]
        self.files: Sequence[Path] = sorted(
            path for path in found if path.suffix in (".bin", ".idx") or _raw(path)
        )
        if not self.files:
            raise ValueError(f"--gen-subset {name}: {folder} has no such split")
        task.load_dataset(name)
        self._dataset = task.dataset(name)

    def __len__(self) -> int:
        return len(self._dataset)

    def rows(self, rows: range) -> Rows:
        """See `Input`."""
        return Rows(self._dataset, np.arange(rows.start, rows.stop), 0)


def _raw(path: Path) -> bool:
    return path.suffix[1:] in path.name.split(".")[1].split("-")  # test.en-de.en of raw data


class TextLines:
    """The lines of a file, plain or compressed by gzip, read a chunk at a time."""

    kind = "text"

    def __init__(
        self, task: Any, path: Path, encode: Callable[[str], str], chunk_rows: int
    ) -> None:
        """`encode` splits a line into symbols; rows are found fast at multiples of `chunk_rows`."""
        try:
            self._file = TextFile(path, chunk_rows)
        except ValueError as error:
            raise ValueError(f"--input {error}") from error
        self.name = path.name.removesuffix(".gz")
        self.files: Sequence[Path] = [path]
        self._task = task
        self._encode = encode

    def __len__(self) -> int:
        return len(self._file)

    def rows(self, rows: range) -> Rows:
        """See `Input`."""
        try:
            lines = [line.strip() for line in self._file.lines(rows)]
        except ValueError as error:
            raise ValueError(f"--input {error}") from error
        tokens, lengths = self._task.get_interactive_tokens_and_lengths(lines, self._encode)
        dataset = self._task.build_dataset_for_inference(tokens, lengths)
        return Rows(dataset, np.arange(len(tokens)), rows.start)
