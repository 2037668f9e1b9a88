"""Plain text in the source language as a corpus without references."""

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.relabelling.corpus import Corpus, SourceRange
from fairseq_mcts.relabelling.errors import RelabellingError


class TextSources:
    """The lines of a file as fairseq would binarise them; only those in a range are read."""

    def __init__(self, sentences: list[Tensor], begin: int) -> None:
        self._sentences = sentences
        self._begin = begin
        # [end of the range], 0 before its begin
        self.sizes = np.zeros(begin + len(sentences), np.int64)
        self.sizes[begin:] = [len(sentence) for sentence in sentences]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, row: int) -> Tensor:
        return self._sentences[row - self._begin]


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
    if not path.is_file():
        raise RelabellingError(f"--monolingual {path}: no such file")
    begin, end = (0, None) if limit is None else (limit.begin, limit.end)
    dictionary = task.source_dictionary
    try:
        sentences = [
            dictionary.encode_line(encode(line), add_if_not_exist=False).long()
            for line in islice(_lines(path), begin, end)
        ]
    except (UnicodeDecodeError, EOFError, OSError) as error:
        raise RelabellingError(f"--monolingual {path}: can't be read as text: {error}") from error
    if not sentences:
        raise RelabellingError(f"--monolingual {path}: has no lines" + (" there" if begin else ""))
    sources = TextSources(sentences, begin)
    return Corpus(
        split,
        files=[path],
        sources=sources,
        references=NoReferences(task.target_dictionary.eos()),
        rows=range(begin, len(sources)),
        is_text=True,
    )


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield line.rstrip("\n")
