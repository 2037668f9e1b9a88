"""Writes fairseq's binarised sentences (its `mmap` format) without a Python object per sentence.

fairseq's own builder keeps a list of all lengths and makes another of all offsets, which at forty
million sentences are gigabytes; here lengths go to disk as they come.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    _dtype_header_code,
    best_fitting_int_dtype,
)

_INDEX_VERSION = 1
_BLOCK = 2**20  # sentences whose offsets are computed at a time


class TokenRows(NamedTuple):
    """R sentences, one after the other."""

    tokens: npt.NDArray[np.int64]  # [sum of sizes]
    sizes: npt.NDArray[np.int32]  # [R]

    @classmethod
    def of(cls, sentences: Sequence[npt.NDArray[np.integer[Any]]]) -> "TokenRows":
        """Puts sentences one after the other."""
        sizes = np.array([len(sentence) for sentence in sentences], np.int32)
        tokens = np.concatenate(sentences) if sentences else np.zeros(0, np.int64)
        return cls(tokens.astype(np.int64, copy=False), sizes)

    def split(self) -> list[npt.NDArray[np.int64]]:
        """The sentences, one by one."""
        return np.split(self.tokens, np.cumsum(self.sizes)[:-1]) if len(self.sizes) else []


class TokenFileWriter:
    """Writes PREFIX.bin and PREFIX.idx; they are whole after `finish`."""

    def __init__(self, prefix: Path, vocabulary_size: int) -> None:
        self.paths = [prefix.with_name(prefix.name + ending) for ending in (".bin", ".idx")]
        self._dtype = best_fitting_int_dtype(vocabulary_size)
        self.rows = self.tokens = self.longest = 0
        self._data: BinaryIO = self.paths[0].open("wb")
        self._index: BinaryIO = self.paths[1].open("w+b")
        self._index.write(MMapIndexedDataset.Index._HDR_MAGIC)
        self._index.write(struct.pack("<Q", _INDEX_VERSION))
        self._index.write(struct.pack("<B", _dtype_header_code(self._dtype)))
        self._count_at = self._index.tell()
        self._index.write(struct.pack("<Q", 0))  # the number of sentences, once it is known

    def add(self, rows: TokenRows) -> None:
        """Appends sentences."""
        self._data.write(rows.tokens.astype(self._dtype).tobytes())
        self._index.write(rows.sizes.astype(np.int32).tobytes())
        self.rows += len(rows.sizes)
        self.tokens += len(rows.tokens)
        self.longest = max(self.longest, int(rows.sizes.max(initial=0)))

    def finish(self) -> None:
        """Completes the index: after all lengths come the offsets of all sentences in bytes."""
        self._data.close()
        sizes_at = self._count_at + struct.calcsize("<Q")
        sizes_end = self._index.tell()
        offset = 0
        for begin in range(sizes_at, sizes_end, 4 * _BLOCK):
            self._index.seek(begin)
            block = self._index.read(min(4 * _BLOCK, sizes_end - begin))
            lengths = np.frombuffer(block, np.int32).astype(np.int64) * self._dtype().itemsize
            ends = offset + np.cumsum(lengths)  # [block]
            self._index.seek(0, 2)
            self._index.write((ends - lengths).tobytes())
            offset = int(ends[-1])
        self._index.seek(self._count_at)
        self._index.write(struct.pack("<Q", self.rows))
        self._index.close()
