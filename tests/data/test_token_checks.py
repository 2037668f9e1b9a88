"""Binarised files that are not whole, or of another dictionary, are named before they are read."""

from pathlib import Path

import numpy as np
import pytest

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


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"no count\n"])
def test_what_is_no_dictionary_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dict.en.txt"
    path.write_bytes(content)
    with pytest.raises(DamagedDataError, match=rf"^{path}: is no dictionary"):
        load_dictionary(str(path))
