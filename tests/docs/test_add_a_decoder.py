"""The page on decoders works as printed."""

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY, Block, blocks, follow, run
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained

PAGE = "add-a-decoder.md"


def needs_checkpoint(command: Block) -> bool:
    return command.text.startswith("fairseq-")


def is_for_clone(command: Block) -> bool:
    return command.text.startswith("# in a clone")


def test_without_a_network(tmp_path: Path) -> None:
    printed = follow(
        PAGE, tmp_path, lambda one: not needs_checkpoint(one) and not is_for_clone(one)
    )
    assert "1 passed" in printed


@pytest.mark.slow(seconds=60)
def test_with_fairseq(trained: Trained, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "data-bin").symlink_to(trained.data)
    (tmp_path / "model.pt").symlink_to(trained.plain)
    (tmp_path / "my_decoder").mkdir()
    printed = follow(PAGE, tmp_path, needs_checkpoint)
    assert printed.count("\nD-") == 3
    assert "Generate test with search=consensus: BLEU4 = " in printed
    assert "best by bleu: --consensus-temperature " in printed
    # the page's other decoder, which needs a value
    (tmp_path / "value.pt").symlink_to(trained.dual)
    with (tmp_path / "my_decoder" / "__init__.py").open("a") as file:
        file.write("from . import lookahead\n")
    decode = "fairseq-generate data-bin --user-dir my_decoder --task translation_mcts --path"
    options = "--max-len-b 15 --search lookahead --lookahead-candidates 3"
    assert run(f"{decode} value.pt {options}", tmp_path).count("\nV-") == 95
    refused = run(f"{decode} model.pt {options} && exit 1 || true", tmp_path)
    assert "--search lookahead: the checkpoint of --path has no value head" in refused


@pytest.mark.slow(seconds=60)
def test_a_rule_of_mcts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # of changed kernels
    clone = tmp_path / "clone"
    for name in ("fairseq_mcts", "tests", "docs"):
        shutil.copytree(
            REPOSITORY / name, clone / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(REPOSITORY / "pyproject.toml", clone)
    [diff] = [one for one in blocks(PAGE) if one.language == "diff"]
    (clone / diff.file).write_text(diff.text, encoding="utf-8")
    [command] = filter(is_for_clone, blocks(PAGE))
    assert "1 passed" in run(command.text, clone, package=clone)
    stale = run("python docs/decoder_table.py --check 2>&1 && exit 1 || true", clone, package=clone)
    assert "decoders.md is out of date" in stale
