"""The lines of a text file, plain or compressed, of which only a block is in memory."""

import gzip
import zlib
from itertools import islice
from pathlib import Path
from typing import BinaryIO

#: how a file ends that is damaged, compressed or not
_UNREADABLE = (EOFError, OSError, zlib.error)


class TextFile:
    """Lines by their numbers, without their ends; found fast at the beginnings of blocks."""

    def __init__(self, path: Path, block_rows: int, end: int | None = None) -> None:
        """Goes through the file once and refuses what is no text; `end`: only lines up to that."""
        if not path.is_file():
            raise ValueError(f"{path}: no such file")
        self._path = path
        self._block_rows = block_rows
        self._stream = _open(path)
        self._lines = 0
        self._begins = [0]  # where blocks begin, in bytes of the plain text
        try:
            for line in islice(self._stream, end):
                self._decoded(self._lines, line)
                self._lines += 1
                if self._lines % block_rows == 1 or block_rows == 1:
                    self._begins.append(self._begins[-1])
                self._begins[-1] += len(line)
        except _UNREADABLE as error:
            raise self._unreadable(error) from error
        if not self._lines:
            raise ValueError(f"{path}: has no lines")

    def __len__(self) -> int:
        return self._lines

    def lines(self, rows: range) -> list[str]:
        """Some lines that follow one another."""
        block, before = divmod(rows.start, self._block_rows)
        try:
            self._stream.seek(self._begins[block])
            found = [*islice(self._stream, before, before + len(rows))]
        except _UNREADABLE as error:
            raise self._unreadable(error) from error
        if len(found) < len(rows):
            raise ValueError(f"{self._path}: has fewer lines than when it was opened")
        return [self._decoded(row, line) for row, line in zip(rows, found, strict=True)]

    def _unreadable(self, error: Exception) -> ValueError:
        return ValueError(f"{self._path}: can't be read as text: {error}")

    def _decoded(self, row: int, line: bytes) -> str:
        try:
            return line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            where = f"{self._path}: can't be read as text: line {row + 1}"
            raise ValueError(f"{where}: {error}") from error


def _open(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
