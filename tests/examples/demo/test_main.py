"""The whole demo, smaller: it learns, translates every line, and a second run has nothing to do."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import REPOSITORY

# one for each kind of model and search: the tests of the generators are about all of them
DECODERS = ["greedy", "beam", "vgbs", "mcts-value", "mcts-rollout"]


def run_demo(work: Path) -> str:
    sizes = {"train-pairs": 8000, "held-out-pairs": 101, "updates": 400}
    sizes |= {"encoder-steps": 120, "value-updates": 60, "value-sources": 300}
    sizes |= {"judged-sources": 20, "tuning-sentences": 20}
    options = [text for name, size in sizes.items() for text in (f"--{name}", str(size))]
    options += ["--decoders", *DECODERS]
    result = subprocess.run(
        [sys.executable, "-m", "examples.demo", "--work", str(work), *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    return result.stdout


@pytest.mark.slow(seconds=250)
def test_demo_trains_and_decodes_and_is_quick_the_second_time(tmp_path: Path) -> None:
    shown = run_demo(tmp_path)

    log = (tmp_path / "stages" / "train.log").read_text(encoding="utf-8")
    losses = [float(loss) for loss in re.findall(r"\| valid \| epoch \d+ .*? loss ([\d.]+) ", log)]
    assert losses[-1] < 0.8 * losses[0]
    row = (
        r"^([a-z-]+) +([A-Za-z]+) +([\d.]+) +[\d.]+ +([\d.]+) +(?:[<.\d]+ +)?[\d.]+% +([\d.]+) "
        r"+([\d.]+) +[\d.]+$"
    )
    found = {name: (goal, *map(float, rest)) for name, goal, *rest in re.findall(row, shown, re.M)}
    assert list(found) == DECODERS
    assert {goal for goal, *_ in found.values()} == {"likelihood", "MLBERTScore"}
    assert found["beam"][1] > 10
    metric = {name: score for name, (_, _, score, *_) in found.items()}
    # it sees the metric itself, so what it says must be high by it
    assert metric["mcts-rollout"] > max(metric["greedy"], metric["beam"])
    for *_, charged, made in found.values():
        assert charged >= made >= 1
    assert shown.count("mean absolute error") == 1
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert str(tmp_path / "report" / "report.html") in shown
    assert all(decoder in page for decoder in DECODERS)
    tuned = json.loads((tmp_path / "tune-mcts-value" / "best.json").read_text(encoding="utf-8"))
    assert tuned["search"] == "mcts"

    again = run_demo(tmp_path)

    assert again.count("already done") == 17
    assert again[again.index("test sentences") :] == shown[shown.index("test sentences") :]
