"""What a result of relabelling depends on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.relabelling.decoding import Decoding
from fairseq_mcts.relabelling.labeller import BatchLimits
from fairseq_mcts.relabelling.plan import Folders, Plan, Recipe


def recipe(model: Path) -> Recipe:
    policy: Any = SimpleNamespace(paths=[], settings=dict)
    text = {"post_process": None, "bpe": {"name": "sentencepiece", "model": str(model)}}
    return Recipe(policy, build_metric("bleu"), Decoding("greedy"), text)


def test_subword_models_count_by_content_and_their_paths_are_told(tmp_path: Path) -> None:
    model, copy = tmp_path / "sp.model", tmp_path / "copy.model"
    model.write_text("pieces")
    copy.write_text("pieces")
    before = recipe(model).settings()
    assert recipe(copy).settings() == before
    assert before["text"]["bpe"]["name"] == "sentencepiece"
    model.write_text("pieces of a longer training")
    assert recipe(model).settings() != before
    plan = Plan(Folders(tmp_path, tmp_path, ["train"]), recipe(copy), BatchLimits(1, None))
    assert plan.origin()["text"]["bpe"]["model"] == str(copy)
