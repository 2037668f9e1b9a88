"""Whatever fairseq is installed serves, or is refused in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_mcts import fairseq_features
from tests.console import REPOSITORY


def complaint(folder: Path, before: str = "") -> str:
    """What `register` says if `folder` comes first among the places that are searched."""
    code = f"""
{before}
from fairseq_mcts.fairseq_features import FairseqError
from fairseq_mcts.register import register
try:
    register()
except FairseqError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)])},
    )
    assert result.returncode == 0, result.stderr
    [line] = result.stdout.splitlines()
    return line


def write_fairseq(folder: Path, **modules: str) -> None:
    for name, text in modules.items():
        path = folder / "fairseq" / (name if name == "__init__" else f"{name}/__init__")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.with_suffix(".py").write_text(text)


def test_the_fairseq_of_these_tests_has_all_that_is_needed() -> None:
    fairseq_features.require_fairseq()


def test_without_fairseq_the_extra_is_named(tmp_path: Path) -> None:
    said = complaint(tmp_path, "import sys; sys.modules['fairseq'] = None")
    assert said.startswith("fairseq_mcts works with the fairseq that is installed, and none is: ")
    assert "'fairseq_mcts[fairseq]'" in said


def test_a_fairseq_that_fails_is_quoted(tmp_path: Path) -> None:
    write_fairseq(tmp_path, __init__="raise ValueError('mutable default')")
    assert "can't be imported here (ValueError: mutable default): pip" in complaint(tmp_path)
    write_fairseq(tmp_path, __init__="import no_such_module")
    assert "(ModuleNotFoundError: No module named 'no_such_module')" in complaint(tmp_path)


def test_an_old_fairseq_is_refused_for_what_it_lacks(tmp_path: Path) -> None:
    write_fairseq(
        tmp_path, __init__="__version__ = '0.10.2'", dataclass="class FairseqDataclass: pass"
    )
    assert complaint(tmp_path).startswith(
        f"the fairseq 0.10.2 in {tmp_path / 'fairseq'} has no "
        "fairseq.dataclass.configs.GenerationConfig, which fairseq_mcts needs"
    )


@pytest.mark.parametrize("name", ["no_such", "BaseFairseqModel.no_such", "NoSuch.generate"])
def test_features_of_classes_are_looked_for_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairseq_features, "NEEDED", (("fairseq.models", name),))
    with pytest.raises(fairseq_features.FairseqError, match=rf"has no fairseq\.models\.{name}"):
        fairseq_features.require_fairseq()
