"""The wall times of stages."""

from examples.multi30k.layout import Layout
from examples.multi30k.times import wall_times
from tests.examples.multi30k.conftest import cells


def test_wall_times_are_those_of_finished_stages(layout: Layout) -> None:
    stages = layout.pair / "stages"
    stages.mkdir(parents=True)
    (stages / "policy.json").write_text('{"finished": true, "seconds": 90.0}')
    (stages / "running.json").write_text('{"finished": false}')
    rows = cells(wall_times(layout))
    assert rows["policy"] == ["1.5"]
    assert "running" not in rows
