"""The page on steppers works as printed."""

from pathlib import Path

import pytest

from tests.docs.pages import follow


@pytest.mark.slow(seconds=60)
def test_the_worked_example(tmp_path: Path) -> None:
    printed = follow("fast-architecture.md", tmp_path)
    assert printed.endswith("the same\n")
    # by the first of two searches alone, in the words of the page
    assert printed.count("ReZeroDecoder has no stepper: each prefix will be computed from") == 1
    assert (tmp_path / "fast.txt").read_text().count("\nH-") == 50
