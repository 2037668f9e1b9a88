"""System outputs of both kinds are read in the order of the test set, or refused."""

import gzip

import pytest

from fairseq_mcts.metrics.system_output import read_lines, read_system

GENERATED = """2026-11-16 06:00:00 | INFO | fairseq_cli.generate | loading model(s)
S-1\tA cat .
T-1\tEine Katze .
H-1\t-0.25\t▁Eine ▁Katze
D-1\t-0.25\tEine Katze .
P-1\t-0.1 -0.2
H-1\t-0.5\t▁Katze
D-1\t-0.5\tKatze .
P-1\t-0.1 -0.2
S-0\tA dog .
T-0\tEin Hund .
H-0\t-0.3\t▁
D-0\t-0.3\t
V-0\t0.8
P-0\t-0.3
"""


def test_generated_file_gives_best_hypotheses_in_order(tmp_path) -> None:
    path = tmp_path / "generate-test.txt"
    path.write_text(GENERATED, encoding="utf-8")
    output = read_system(path)
    assert output.hypotheses == ["", "Eine Katze ."]
    assert output.sources == ["A dog .", "A cat ."]
    assert output.references == ["Ein Hund .", "Eine Katze ."]


def test_missing_sentences_are_named(tmp_path) -> None:
    path = tmp_path / "generate-test.txt"
    path.write_text(GENERATED + "S-3\tx\nS-2\ty\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"D lines for 2 of 4 sentences; missing: 2, 3\."):
        read_system(path)


def test_plain_text_keeps_every_line(tmp_path) -> None:
    path = tmp_path / "plain.txt"
    path.write_bytes("eins\r\n\nzwei\u2028drei\x0cvier\n".encode())
    output = read_system(path)
    assert output.hypotheses == ["eins", "", "zwei\u2028drei\x0cvier"]
    assert output.sources is None and output.references is None


def test_packed_text_is_read(tmp_path) -> None:
    path = tmp_path / "plain.txt.gz"
    path.write_bytes(gzip.compress(b"eins\nzwei\n"))
    assert read_lines(path) == ["eins", "zwei"]


def test_bad_files_are_named(tmp_path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"gut\nsch\xf6n\n")
    with pytest.raises(ValueError, match=r"latin.txt, line 2: not UTF-8"):
        read_lines(path)
    packed = tmp_path / "packed.txt.gz"
    for content in (gzip.compress(b"eins\nzwei\n")[:-9], b"eins\nzwei\n"):
        packed.write_bytes(content)
        with pytest.raises(ValueError, match=r"packed.txt.gz: is no whole gzip file"):
            read_lines(packed)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_lines(tmp_path / "absent.txt")
