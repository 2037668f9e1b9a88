"""Binarised files that are not whole, or of another dictionary, are named before they are read."""

from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder

from fairseq_mcts.data import token_checks
from fairseq_mcts.data.token_checks import (
    DamagedDataError,
    check_sentences,
    check_split,
    load_dictionary,
)
from fairseq_mcts.data.token_file import TokenFileWriter, TokenRows

VOCABULARY = 300


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    prefix = tmp_path / "test.en-de.en"
    writer = TokenFileWriter(prefix, VOCABULARY)
    writer.add(TokenRows.of([np.arange(4, 60), np.array([7, 299, 2]), np.array([2])]))
    writer.finish()
    return prefix


def with_ending(prefix: Path, ending: str) -> Path:
    return prefix.with_name(prefix.name + ending)


def test_whole_files_pass(prefix: Path) -> None:
    check_sentences(prefix, VOCABULARY)
    check_split(prefix.parent, "test", {"en": VOCABULARY, "de": 4})
    check_sentences(prefix.parent / "missing", VOCABULARY)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("ending", [".idx", ".bin"])
def test_a_truncated_file_is_named(prefix: Path, ending: str, share: float) -> None:
    path = with_ending(prefix, ending)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DamagedDataError, match=rf"^{path}: (has|is no whole index)"):
        check_split(prefix.parent, "test", {"en": VOCABULARY, "de": 4}, with_ids=False)


def test_an_index_of_something_else_is_named(prefix: Path) -> None:
    path = with_ending(prefix, ".idx")
    path.write_bytes(b"something else" * 100)
    with pytest.raises(DamagedDataError, match=rf"^{path}: is no whole index"):
        check_sentences(prefix, None)


def test_tokens_beyond_the_dictionary_are_named(prefix: Path) -> None:
    complaint = rf"^{with_ending(prefix, '.bin')}: holds the token 299, but its dictionary has 299"
    with pytest.raises(DamagedDataError, match=complaint):
        check_sentences(prefix, 299)
    check_sentences(prefix, None)  # where nobody reads all tokens


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_negative_tokens_are_named(tmp_path: Path, dtype: type[np.signedinteger]) -> None:
    prefix = tmp_path / "test.en-de.en"
    builder = MMapIndexedDatasetBuilder(str(with_ending(prefix, ".bin")), dtype=dtype)
    builder.add_item(torch.tensor([7, -1, 2]))
    builder.finalize(str(with_ending(prefix, ".idx")))
    with pytest.raises(DamagedDataError, match=r"\.bin: holds the token -1, but its dictionary"):
        check_sentences(prefix, VOCABULARY)


@pytest.mark.parametrize("block", [1, 2, token_checks._BLOCK])
def test_every_flipped_byte_of_an_index_is_noticed(
    prefix: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_checks, "_BLOCK", block)
    path = with_ending(prefix, ".idx")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedDataError, match=rf"^{prefix}\."):
            check_sentences(prefix, VOCABULARY)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"no count\n"])
def test_what_is_no_dictionary_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dict.en.txt"
    path.write_bytes(content)
    with pytest.raises(DamagedDataError, match=rf"^{path}: is no dictionary"):
        load_dictionary(str(path))
