"""The page on metrics works as printed."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import Block, follow
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained

PAGE = "add-a-metric.md"


def needs_checkpoint(command: Block) -> bool:
    return "--path " in command.text


def test_without_a_network(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path, lambda one: not needs_checkpoint(one))
    assert re.search(r"^beam +0\.5000", printed, re.M)
    assert re.search(r"^search +1\.0000", printed, re.M)


@pytest.mark.slow(seconds=40)
def test_with_fairseq(trained: Trained, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "data-bin").symlink_to(trained.data)
    (tmp_path / "model.pt").symlink_to(trained.plain)
    (tmp_path / "my_metric").mkdir()
    printed = follow(PAGE, tmp_path, needs_checkpoint)
    assert "Generate test with search=sr: numbers = 1.0000 | against:source|min_digits:2" in printed
    assert "numbers against the source (against:source|min_digits:2)" in printed
    assert (tmp_path / "scored" / "valid.en-de.score.npy").is_file()
