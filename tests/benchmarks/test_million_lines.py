"""The benchmark of many lines, on few."""

from pathlib import Path

import million_lines
import pytest

from tests.console import REPOSITORY


@pytest.mark.slow
def test_each_line_comes_once_and_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))  # of the runs that it starts
    given = ["--lines", "4000", "--chunk-sentences", "20", "--work", str(tmp_path)]
    assert million_lines.main(given)
    assert "4,000 lines in chunks of 20" in capsys.readouterr().out
