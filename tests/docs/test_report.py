"""docs/report.md: its commands work as they stand, but for the names of files."""

import shlex
from pathlib import Path

import pytest

from fairseq_mcts.cli import explore, report
from fairseq_mcts.register import register
from tests.docs.pages import blocks
from tests.report.runs import toy_search, write_generated

TEXTS = ["Ein Haus.", "Zwei Häuser."]


def command(program: str) -> list[str]:
    """The arguments of a program in the page."""
    lines = [
        shlex.split(block.text.replace("\\\n", " "))
        for block in blocks("report.md")
        if block.language == "bash"
    ]
    [found] = [words[1:] for words in lines if words[0] == program]
    return found


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_generated(Path("runs/beam"), TEXTS, TEXTS, TEXTS)
    for name in ("runs/mcts-4", "runs/mcts-16"):
        folder = write_generated(Path(name), TEXTS, TEXTS, TEXTS, search="mcts")
        toy_search((0, 1), folder / "searches.jsonl.gz", simulations=4)
    report.main(command("fairseq-mcts-report"))
    assert 'id="search-2-1"' in Path("report.html").read_text(encoding="utf-8")
    assert "mcts-16" in Path("report.md").read_text(encoding="utf-8")


def test_explore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sp.model").touch()
    register()
    options, cfg = explore.parse(command("fairseq-mcts-explore"))
    assert (options.host, options.port) == ("127.0.0.1", 8642)
    assert cfg.task.search_metric == "mlbertscore:model=encoder"
