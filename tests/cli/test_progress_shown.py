"""Commands that may take long say how far they are, how fast, and how long it will take."""

import re
from pathlib import Path

import pytest

from fairseq_mcts.cli import comparing, score, sweep
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tuning.grid import grid, parse_options
from fairseq_mcts.tuning.proposals import GridProposals, Outcome
from fairseq_mcts.tuning.results import Trial

#: how many, how long so far, how long to go, how fast
SHOWN = r"{title}: {done}/{total} {unit} \(\d+\.\d%\) \[\d\d:\d\d<\d\d:\d\d, .*{unit}/s\]"


def shown(title: str, done: int, total: int, unit: str) -> str:
    return SHOWN.format(title=title, done=done, total=total, unit=unit)


def test_scoring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "reference"):
        lines = "".join(f"Satz {number} von {name}.\n" for number in range(5))
        (tmp_path / name).write_text(lines, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("one", "two")]
    arguments = [*files, "--references", str(tmp_path / "reference"), "--resamples", "10"]
    score.main(arguments)
    quick = capsys.readouterr()
    assert quick.err == ""  # it took no time
    monkeypatch.setattr(comparing, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(comparing, "_SENTENCES_AT_ONCE", 2)
    score.main(arguments)
    slow = capsys.readouterr()
    assert slow.out == quick.out
    assert re.search(shown("scoring", 20, 20, "sentences"), slow.err)
    assert re.search(shown("testing", 2, 2, "tests"), slow.err)


def test_whole_corpora_stay_whole(toy_encoder: Path) -> None:
    spec = f"bertscore:model={toy_encoder}"
    size = comparing._SENTENCES_AT_ONCE
    assert len(comparing._parts(build_metric(spec), 3 * size)) == 3
    assert len(comparing._parts(build_metric(f"{spec},idf=yes"), 3 * size)) == 1


def test_sweeping(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_SILENT_SECONDS", 0.0)
    settings = grid(parse_options(["lenpen=0.6,1.0"], {"lenpen": None}, set()))
    proposals = GridProposals(settings)
    with sweep._Told(proposals, build_metric("bleu"), len(settings)) as told:
        while (proposal := told.next()) is not None:
            trial = Trial(proposal.setting.flags(), {"bleu": 0.5}, {}, [], 1, 1, 1, 2.0)
            told.finish(proposal, Outcome(trial))
    printed = capsys.readouterr()
    assert printed.out.count("bleu 50.00 (2.0 s)") == 2
    assert re.search(shown("sweep", 2, 2, "settings"), printed.err)
