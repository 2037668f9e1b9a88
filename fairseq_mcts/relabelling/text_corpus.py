"""Plain text in the source language as a corpus without references."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fairseq_mcts.data.text_file import TextFile
from fairseq_mcts.relabelling.corpus import Corpus, SourceRange
from fairseq_mcts.relabelling.errors import RelabellingError

_BLOCK_ROWS = 1000

#: the least and the greatest length of each block of rows: [blocks, 2]
Extremes = npt.NDArray[np.int64]


class TextSources:
    """The lines of a file as fairseq would binarise them; only those read last are in memory."""

    def __init__(self, file: TextFile, encode: Callable[[str], Tensor]) -> None:
        self._file = file
        self._encode = encode
        self._rows = range(0)  # that are in memory
        self._sentences: list[Tensor] = []
        #: of `survey`, here or in another process
        self.extremes: Extremes | None = None

    def __len__(self) -> int:
        return len(self._file)

    def __getitem__(self, row: int) -> Tensor:
        if row not in self._rows:
            begin = row - row % _BLOCK_ROWS
            self._read(range(begin, min(begin + _BLOCK_ROWS, len(self))))
        return self._sentences[row - self._rows.start]

    def lengths(self, rows: range) -> npt.NDArray[np.int64]:
        """In tokens; the sentences then are in memory."""
        if rows != self._rows:
            self._read(rows)
        return np.array([len(sentence) for sentence in self._sentences], np.int64)

    def survey(self, rows: range) -> Extremes:
        """Of these rows; splits each line into symbols, once."""
        if self.extremes is None:
            lengths = map(self.lengths, _blocks(rows))
            self.extremes = np.array([(some.min(), some.max()) for some in lengths], np.int64)
        return self.extremes

    def blocks_beyond(self, rows: range, least: int, most: int) -> list[range]:
        """Blocks of these rows, the same as ever, that have lengths outside."""
        extremes = self.survey(rows)
        outside = (extremes[:, 0] < least) | (extremes[:, 1] > most)
        return [block for block, found in zip(_blocks(rows), outside, strict=True) if found]

    def _read(self, rows: range) -> None:
        self._sentences = [self._encode(line) for line in self._file.lines(rows)]
        self._rows = rows


def _blocks(rows: range) -> list[range]:
    return [rows[begin : begin + _BLOCK_ROWS] for begin in range(0, len(rows), _BLOCK_ROWS)]


class NoReferences:
    """In place of references: an eos for each source."""

    def __init__(self, eos: int) -> None:
        self._nothing = torch.tensor([eos])

    def __getitem__(self, row: int) -> Tensor:
        return self._nothing


def open_text(
    task: Any, split: str, path: Path, encode: Callable[[str], str], limit: SourceRange | None
) -> Corpus:
    """The lines of a file, plain or compressed by gzip; `encode` splits one into symbols."""
    begin, end = (0, None) if limit is None else limit
    dictionary = task.source_dictionary

    def binarised(line: str) -> Tensor:
        tokens: Tensor = dictionary.encode_line(encode(line), add_if_not_exist=False)
        return tokens.long()

    try:
        file = TextFile(path, _BLOCK_ROWS, end)
    except ValueError as error:
        raise RelabellingError(f"--monolingual {error}") from error
    if begin >= len(file):
        raise RelabellingError(f"--monolingual {path}: has no lines there")
    return Corpus(
        split,
        files=[path],
        sources=TextSources(file, binarised),
        references=NoReferences(task.target_dictionary.eos()),
        rows=range(begin, len(file)),
        is_text=True,
    )
