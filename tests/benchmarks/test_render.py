"""The table of all figures, and which benchmarks it is made of."""

from pathlib import Path

import pytest
import render


def test_trained_models_are_taken_from_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("overhead", "exact_reuse")
    found = render.commands("base", tmp_path, names, tmp_path / "results")
    assert list(found) == ["overhead-base"]
    assert found["overhead-base"][-2:] == ["--size", "base"]
    assert "exact_reuse: left out" in capsys.readouterr().out
    checkpoint = tmp_path / render.CHECKPOINT
    checkpoint.parent.mkdir()
    checkpoint.touch()
    found = render.commands("base", tmp_path, names, tmp_path / "results")
    assert str(checkpoint) in found["exact_reuse"]


def test_every_benchmark_of_the_folder_is_run() -> None:
    folder = Path(render.__file__).parent
    helpers = {"common", "networks", "random_metric", "render", "searches", "trained", "vmcts"}
    helpers |= {"dual_heads", "without_memory", "commands", "metric_searches"}
    helpers |= {path.stem for path in folder.glob("listing_*.py")}
    # these compare with packages or data that `make bench` does not bring, or measure no speed
    by_hand = {"tree_cost", "metric_speed", "against_mbrs", "killed_sweep", "interrupted", "gpu"}
    by_hand |= {"ray_nodes", "workers", "million_lines", "report_page", "soak", "precision"}
    names = {path.stem for path in folder.glob("*.py")} - helpers - by_hand
    assert names == {*render.SIZED, *render.TRAINED}
