"""The stages up to the supervised policy."""

import itertools

from examples.multi30k.layout import Layout
from examples.multi30k.supervised import SupervisedStages
from tests.examples.multi30k.conftest import options


def test_supervised_stages_each_read_the_one_before(layout: Layout) -> None:
    stages = SupervisedStages(layout).all()
    assert stages[0].reads == ()
    for before, stage in itertools.pairwise(stages):
        assert stage.reads == (before,)
        assert str(before.output) in " ".join(stage.command)
    assert options(stages[-1])["--arch"] == "multiquery_transformer_small"
    assert "--joined-dictionary" in stages[2].command
