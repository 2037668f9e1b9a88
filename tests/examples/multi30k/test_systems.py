"""The commands that translate the test set."""

from examples.multi30k import systems
from examples.multi30k.layout import Layout
from examples.multi30k.study import MAIN_MODELS
from examples.multi30k.values import cheating, hybrid
from tests.examples.multi30k.conftest import options

MCTS = ("--search", "mcts", "--mcts-c-puct", "3")


def decoding(layout: Layout, system: systems.System) -> dict[str, str]:
    stage = systems.decoding_stage(layout, system, ())
    assert stage.output == layout.decoded(system.name)
    return options(stage)


def test_only_searches_by_the_metric_name_one(layout: Layout) -> None:
    model = MAIN_MODELS["mlbertscore"]
    by_value = decoding(layout, systems.joint(layout, model, "mcts", MCTS))
    assert by_value["--path"] == str(layout.value("mlbertscore/value-2"))
    assert "--search-metric" not in by_value
    for decoder in ("sr", "mcts-rollout", "mcts-terminal"):
        found = decoding(layout, systems.joint(layout, model, decoder, MCTS))
        assert found["--search-metric"] == "mlbertscore:model=encoder"


def test_cheating_is_said_in_the_command(layout: Layout) -> None:
    system = systems.cheating_mcts(layout, cheating("bleu"), MCTS)
    found = decoding(layout, system)
    assert "--cheating-value" in found
    assert found["--path"] == str(layout.policy)
    assert found["--value-path"] == str(layout.value(cheating("bleu").name))


def test_separate_values_keep_the_supervised_policy(layout: Layout) -> None:
    system = systems.separate_mcts(layout, hybrid("bertscore"), MCTS)
    found = decoding(layout, system)
    assert system.name == "separate-bertscore-mcts"
    assert found["--path"] == str(layout.policy)
    assert found["--value-path"] == str(layout.value("hybrid-bertscore"))
    assert found["--search-budget"] == "25"
