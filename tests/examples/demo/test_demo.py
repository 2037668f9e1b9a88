"""The whole demo, smaller: it learns, translates every line, and a second run has nothing to do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def run_demo(work: Path) -> str:
    options = ["--train-pairs", "10000", "--held-out-pairs", "101", "--updates", "500"]
    options += ["--encoder-steps", "150"]
    scripts = str(Path(sys.executable).parent)
    result = subprocess.run(
        [sys.executable, "-m", "examples.demo", "--work", str(work), *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])},
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    return result.stdout


@pytest.mark.slow(seconds=250)
def test_demo_trains_and_decodes_and_is_quick_the_second_time(tmp_path: Path) -> None:
    shown = run_demo(tmp_path)

    log = (tmp_path / "stages" / "train.log").read_text(encoding="utf-8")
    losses = [float(loss) for loss in re.findall(r"\| valid \| epoch \d+ .*? loss ([\d.]+) ", log)]
    assert losses[-1] < 0.8 * losses[0]
    row = r"^([a-z-]+) +([\d.]+) +[\d.]+ +([\d.]+) +[\d.]+% +([\d.]+) +([\d.]+) +[\d.]+$"
    found = {name: tuple(map(float, rest)) for name, *rest in re.findall(row, shown, re.M)}
    assert list(found) == ["greedy", "beam", "sr-metric", "mcts-rollout"]
    assert min(bleu for bleu, *_ in found.values()) > 10
    metric = {name: score for name, (_, score, *_) in found.items()}
    assert min(metric["sr-metric"], metric["mcts-rollout"]) > max(metric["greedy"], metric["beam"])
    for _, _, charged, made in found.values():
        assert charged >= made >= 1

    again = run_demo(tmp_path)

    assert again.count("already done") == 9
    assert again.splitlines()[-8:] == shown.splitlines()[-8:]
