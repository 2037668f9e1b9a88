"""Lines of a text file by their numbers."""

import gzip
from pathlib import Path

import pytest

from fairseq_mcts.data import text_file
from fairseq_mcts.data.text_file import TextFile

LINES = [f"line {number}" for number in range(23)]
#: of a fixed time, since a name of a test holds it
_CUT = gzip.compress(b"a\n" * 999, mtime=0)[:-9]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("block_rows", [1, 5, 100])
def test_any_lines_are_found(tmp_path: Path, ending: str, block_rows: int) -> None:
    text = "".join(f"{line}\n" for line in LINES).encode()
    path = tmp_path / f"news{ending}"
    path.write_bytes(gzip.compress(text) if ending else text)
    file = TextFile(path, block_rows)
    assert len(file) == 23
    for begin, end in ((0, 5), (20, 23), (5, 7), (3, 14), (22, 23), (0, 23)):
        assert file.lines(range(begin, end)) == LINES[begin:end]
    assert len(TextFile(path, block_rows, end=7)) == 7


def test_ends_of_lines_are_left_out_and_blanks_kept(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b" a \r\n\n\tb")
    assert TextFile(tmp_path / "text", 2).lines(range(3)) == [" a ", "", "\tb"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("none", None, "none: no such file"),
        ("empty", b"", "empty: has no lines"),
        ("bytes", b"a\nb\n\xff\n", "bytes: can't be read as text: line 3: 'utf-8' codec"),
        ("false.gz", b"no gzip", "false.gz: can't be read as text: Not a gzipped file"),
        ("cut.gz", _CUT, "cut.gz: can't be read as text: Compressed"),
    ],
)
def test_what_is_no_text_is_refused_at_once(
    tmp_path: Path, name: str, content: bytes | None, fault: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=fault):
        TextFile(tmp_path / name, 5)


def test_what_lies_behind_the_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\nb\n\xff\n")
    assert TextFile(tmp_path / "text", 5, end=2).lines(range(2)) == ["a", "b"]


def test_a_damaged_compressed_file_is_named(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(999)).encode()
    path = tmp_path / "news.gz"
    path.write_bytes(whole := gzip.compress(text))
    opened = TextFile(path, 5)
    for place in range(10, len(whole), 100):  # behind the header
        path.write_bytes(whole[:place] + bytes(200))
        with pytest.raises(ValueError, match=f"^{path}: can't be read as text: "):
            TextFile(path, 5)
    path.write_bytes(whole[:10] + bytes(200))  # while it is worked on
    opened._stream = text_file._open(path)
    with pytest.raises(ValueError, match=f"^{path}: can't be read as text: "):
        opened.lines(range(500, 505))
    path.write_bytes(gzip.compress(text[:70]))
    opened._stream = text_file._open(path)
    with pytest.raises(ValueError, match=f"^{path}: has fewer lines than"):
        opened.lines(range(5, 15))
