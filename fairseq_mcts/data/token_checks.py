"""Binarised sentences are looked at before they are worked on: half a file is named as such.

fairseq maps files into memory as they are: of a truncated index it makes an error of numpy's, of
truncated data sentences of zeros, and of ids beyond the dictionary an error of the embedding.
"""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from fairseq.data import Dictionary
from fairseq.data.huffman.huffman_mmap_indexed_dataset import HuffmanMMapIndex
from fairseq.data.indexed_dataset import IndexedDataset, MMapIndexedDataset, _code_to_dtype

_MAGIC = MMapIndexedDataset.Index._HDR_MAGIC
_OTHERS = (IndexedDataset._HDR_MAGIC, HuffmanMMapIndex._HDR_MAGIC[:8])  # formats left to fairseq
_HEADER = struct.Struct("<QBQ")  # version, type of the tokens, number of sentences
_BLOCK = 2**24  # tokens looked at together


class DamagedDataError(ValueError):
    """A file of binarised sentences that is not whole, or of another dictionary; it is named."""


class _Index(NamedTuple):
    dtype: npt.DTypeLike
    tokens: int  # of all sentences


def check_split(
    folder: Path, split: str, vocabularies: dict[str, int], *, with_ids: bool = True
) -> None:
    """Refuses damaged files of a split; `vocabularies` are the dictionaries' sizes by language.

    `with_ids` reads all tokens, too: none may lie beyond its dictionary.
    """
    first, second = (*vocabularies, *vocabularies)[:2]
    for pair in dict.fromkeys((f"{first}-{second}", f"{second}-{first}")):
        for language, size in vocabularies.items():
            check_sentences(folder / f"{split}.{pair}.{language}", size if with_ids else None)


def check_sentences(prefix: Path, vocabulary: int | None) -> None:
    """Refuses PREFIX.idx and PREFIX.bin if they are there and damaged."""
    index, data = (prefix.with_name(prefix.name + ending) for ending in (".idx", ".bin"))
    if not index.is_file() or not data.is_file():
        return
    found = _read_index(index)
    if found is None:
        return
    itemsize = np.dtype(found.dtype).itemsize
    if data.stat().st_size != found.tokens * itemsize:
        raise DamagedDataError(
            f"{data}: has {data.stat().st_size:,} bytes, but {index.name} tells of "
            f"{found.tokens * itemsize:,}; binarise the data again"
        )
    if vocabulary is not None and found.tokens:
        _refuse_unknown_ids(data, np.memmap(data, found.dtype, mode="r"), vocabulary)


def _read_index(path: Path) -> _Index | None:
    """What an index says; None if it is of a format that is left to fairseq."""
    with path.open("rb") as stream:
        magic = stream.read(len(_MAGIC))
        if magic[:8] in _OTHERS:
            return None
        header = stream.read(_HEADER.size)
        if magic != _MAGIC or len(header) < _HEADER.size:
            raise DamagedDataError(f"{path}: is no whole index of binarised sentences")
        version, code, count = _HEADER.unpack(header)
        expected = stream.tell() + count * (4 + 8)  # lengths and places of all sentences
        size = path.stat().st_size
        if version != 1 or code not in _code_to_dtype or size != expected:
            raise DamagedDataError(
                f"{path}: has {size:,} bytes, but {expected:,} are needed for the {count:,} "
                "sentences it tells of; binarise the data again"
            )
        sizes = np.fromfile(stream, np.int32, count)  # [count]
        dtype = _code_to_dtype[code]
        _refuse_gaps(path, sizes, stream, np.dtype(dtype).itemsize)
    return _Index(dtype, int(sizes.sum(dtype=np.int64)))


def _refuse_gaps(path: Path, sizes: npt.NDArray[np.int32], places: BinaryIO, itemsize: int) -> None:
    """Sentences lie one behind the other: a place that is not the end of the one before is wrong.

    `places` are the bytes where they begin, which are read a block at a time.
    """
    end = 0
    for first in range(0, len(sizes), _BLOCK):
        lengths = sizes[first : first + _BLOCK].astype(np.int64) * itemsize
        ends = end + np.cumsum(lengths)
        begins = np.fromfile(places, np.int64, len(lengths))
        wrong = np.flatnonzero((begins != ends - lengths) | (lengths < 0))
        if len(wrong):
            raise DamagedDataError(
                f"{path}: is damaged: sentence {first + wrong[0]:,} does not begin where the one "
                "before it ends; binarise the data again"
            )
        end = int(ends[-1])


def _refuse_unknown_ids(path: Path, tokens: npt.NDArray[np.int64], vocabulary: int) -> None:
    for begin in range(0, len(tokens), _BLOCK):
        block = tokens[begin : begin + _BLOCK]
        lowest, highest = int(block.min()), int(block.max())
        if lowest < 0 or highest >= vocabulary:
            wrong = lowest if lowest < 0 else highest
            raise DamagedDataError(
                f"{path}: holds the token {wrong:,}, but its dictionary has {vocabulary:,}; the "
                "dictionary is another one, or the file is damaged"
            )


def load_dictionary(path: str) -> Dictionary:
    """A dictionary of fairseq's, whose own complaints do not always name the file."""
    try:
        return Dictionary.load(path)
    except OSError:
        raise
    except Exception as error:  # fairseq raises no class of its own
        raise DamagedDataError(f"{path}: is no dictionary ({error})") from error


def vocabularies_of(task: object, languages: Iterable[str]) -> dict[str, int]:
    """The sizes of a task's dictionaries by their languages, the source's first."""
    source, target = languages
    sizes = [len(getattr(task, name)) for name in ("source_dictionary", "target_dictionary")]
    return dict(zip((source, target), sizes, strict=True))
