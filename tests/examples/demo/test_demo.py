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


@pytest.mark.slow
def test_demo_trains_and_decodes_and_is_quick_the_second_time(tmp_path: Path) -> None:
    shown = run_demo(tmp_path)

    log = (tmp_path / "stages" / "train.log").read_text(encoding="utf-8")
    losses = [float(loss) for loss in re.findall(r"\| valid \| epoch \d+ .*? loss ([\d.]+) ", log)]
    assert losses[-1] < 0.8 * losses[0]
    scores = {
        name: float(bleu) for name, bleu in re.findall(r"^(greedy|beam) +([\d.]+) ", shown, re.M)
    }
    assert min(scores.values()) > 10
    assert scores["greedy"] != scores["beam"]

    again = run_demo(tmp_path)

    assert again.count("already done") == 6
    assert again.splitlines()[-4:] == shown.splitlines()[-4:]
