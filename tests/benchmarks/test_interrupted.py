"""The benchmark of kills, on toy work."""

import sys
from pathlib import Path

import interrupted
import pytest

from tests.console import REPOSITORY


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the commands find them."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))


def test_kills_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "tests.work.toy_command", "{out}", "--workers", "2"]
    given = ["--kills", "3", "--within", "0.3", "--work", str(tmp_path), "--", *command]
    assert interrupted.main(given)
    assert "the output is the same: squares.txt" in capsys.readouterr().out
    numbers = (tmp_path / "killed" / "squares.txt").read_text().split()
    assert [int(number) for number in numbers] == [number**2 for number in range(60)]


def test_a_command_that_depends_on_kills_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import pathlib, sys; out = pathlib.Path(sys.argv[1]); out.mkdir(); "
    program += "(out / 'x').write_text(out.name)"
    command = [sys.executable, "-c", program, "{out}"]
    assert not interrupted.main(["--kills", "0", "--work", str(tmp_path), "--", *command])
    assert "NOT THE SAME" in capsys.readouterr().out
