"""`fairseq-mcts COMMAND` is `fairseq-mcts-COMMAND`, and says what there is."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairseq_mcts
from fairseq_mcts.cli import commands
from fairseq_mcts.command_help import COMMANDS, DEBUG, Command

ROOT = Path(__file__).parents[2]


def test_every_command_has_its_module_and_its_own_name() -> None:
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert callable(importlib.import_module(f"fairseq_mcts.cli.{name}").main)
        assert f'"fairseq-mcts-{name} = fairseq_mcts.cli.{name}:main"' in setup


def test_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        commands.main(["--help"])
    shown = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name} " in shown
        assert command.summary in shown


@pytest.mark.parametrize(("name", "command"), COMMANDS.items())
def test_help_of_all_has_one_style(
    name: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        commands.main([name, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"usage: fairseq-mcts {name} {command.usage}"
    assert lines[1] == ""
    assert lines[2]  # what it does
    begin = max(lines.index(one) for one in ("example:", "examples:") if one in lines)
    shown = " ".join(line.strip().removesuffix(" \\") for line in lines[begin + 1 :])
    for example in command.examples:
        assert f"fairseq-mcts {name} {example}" in shown
    for line in lines[begin:]:
        assert len(line) <= 100
    for flag in ("--version", "--debug"):
        assert any(line.startswith(f"  {flag} ") for line in lines)


@pytest.mark.parametrize("name", ["generate", "sweep", "explore", "plan"])
def test_help_tells_of_decoders(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """fairseq's own --help ends before it gets to them."""
    with pytest.raises(SystemExit, match="0"):
        commands.main([name, "--help"])
    shown = capsys.readouterr().out
    for flag in ("--search ", "--mcts-simulations ", "--search-metric ", "--sentencepiece-model "):
        assert f"  {flag}" in shown
    # whole flags, to be copied, and defaults as a reader understands them
    assert not re.search(r"--[\w-]+-\n", shown)
    for unwanted in ("default: ???", "default: False"):
        assert unwanted not in shown
    assert re.search(r"--sentencepiece-model \w+\s+path to sentencepiece model \(required\)", shown)
    # what is the command's own comes first
    assert shown.index("data, decoders and their metrics") < shown.index("--no-progress-bar")


@pytest.mark.parametrize("given", [["--version"], *([name, "--version"] for name in COMMANDS)])
def test_version(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        commands.main(given)
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
