"""`fairseq-mcts COMMAND` is `fairseq-mcts-COMMAND`, and says what there is."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import fairseq_mcts
from fairseq_mcts.cli import commands
from fairseq_mcts.cli.errors import DEBUG

ROOT = Path(__file__).parents[2]


def test_every_command_has_its_module_and_its_own_name() -> None:
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    for name in commands.COMMANDS:
        assert callable(importlib.import_module(f"fairseq_mcts.cli.{name}").main)
        assert f'"fairseq-mcts-{name} = fairseq_mcts.cli.{name}:main"' in setup


def test_help_lists_all_commands_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        commands.main(["--help"])
    shown = capsys.readouterr().out
    for name, command in commands.COMMANDS.items():
        assert f"fairseq-mcts {name} {command.example}" in shown
        assert command.summary in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        commands.main(["--version"])
    assert capsys.readouterr().out.strip() == fairseq_mcts.__version__


@pytest.mark.parametrize("given", [[], ["translate"], ["--debug"]])
def test_what_is_no_command_is_refused(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        commands.main(given)
    assert "COMMAND" in capsys.readouterr().err


def test_arguments_are_handed_on_and_a_traceback_comes_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEBUG, "")
    missing = str(tmp_path / "missing.txt")
    for before, has_traceback in (([], False), (["--debug"], True)):
        with pytest.raises(SystemExit, match="2"):
            commands.main([*before, "score", missing])
        shown = capsys.readouterr().err
        assert shown.splitlines()[-1].startswith("fairseq-mcts-score: error: ")
        assert "missing.txt" in shown
        assert ("Traceback" in shown) == has_traceback


def test_help_needs_neither_torch_nor_fairseq() -> None:
    code = (
        "import sys; from fairseq_mcts.cli.commands import make_parser;"
        "make_parser().format_help(); assert not {'torch', 'fairseq'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
