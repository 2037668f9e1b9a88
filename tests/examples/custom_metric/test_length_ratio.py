"""The example of a user's own metric works from the command line."""

import importlib.util
import json
import sys

import pytest

from fairseq_mcts.cli import score
from fairseq_mcts.metrics import build_metric
from tests.console import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "custom_metric"


def test_metric_from_a_user_dir(tmp_path, capsys) -> None:
    pytest.importorskip("fairseq_mcts.register", reason="the plugin's registration is needed")
    (tmp_path / "source.txt").write_text("a dog runs\nyes\n", encoding="utf-8")
    (tmp_path / "output.txt").write_text("ein Hund rennt\n\n", encoding="utf-8")
    score.main(
        [
            *("--user-dir", str(EXAMPLE), "--sources", str(tmp_path / "source.txt")),
            *("--metrics", "length_ratio:expected=1.0", "--json", "-"),
            f"x={tmp_path / 'output.txt'}",
        ]
    )
    result = json.loads(capsys.readouterr().out)
    assert result["systems"]["x"]["scores"]["length_ratio"]["score"] == pytest.approx((10 / 14) / 2)
    assert "expected:1.0" in result["metrics"]["length_ratio"]["signature"]


def test_scores_stay_in_range_for_all_texts() -> None:
    spec = importlib.util.spec_from_file_location("length_ratio", EXAMPLE / "length_ratio.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    metric = build_metric("length_ratio")
    texts = ["", " ", "x", "😀", "long " * 1000]
    pairs = [(a, b) for a in texts for b in texts]
    scores = metric.score([a for a, _ in pairs], [b for _, b in pairs])
    assert all(0.0 <= value <= 1.0 for value in scores)
    assert scores[0] == 1.0 and scores[2] == 0.0
    with pytest.raises(ValueError, match=r"expected=0\.0 must be positive"):
        build_metric("length_ratio:expected=0")
