"""The stages of the ablation."""

from pathlib import Path

from examples.ablation.plan import CELLS, AblationPlan, Cell
from examples.demo.plan import Plan, Sizes


def test_plan_goes_on_where_the_demo_has_a_policy(tmp_path: Path) -> None:
    demo = Plan(tmp_path, Sizes())
    stages = AblationPlan(demo, updates=10).stages()
    assert stages[:4] == demo.stages()[:4]
    for stage, cell in zip(stages[5:], CELLS, strict=True):
        chosen = dict(zip(stage.command, stage.command[1:], strict=False))
        found = Cell(
            # a criterion that reads both has no such options
            chosen.get("--value-encoder-input", "source"),
            chosen.get("--value-positions", "every"),
            chosen["--criterion"],
        )
        assert found == cell
