"""The commands of the study."""

import itertools

from examples.common.runner import Stage
from examples.multi30k import systems
from examples.multi30k.layout import Layout
from examples.multi30k.study import MAIN_MODELS
from examples.multi30k.supervised import SupervisedStages
from examples.multi30k.values import CELLS, ValueStages, cheating, dual, hybrid, on_samples

MCTS = ("--search", "mcts", "--mcts-c-puct", "3")


def options(stage: Stage) -> dict[str, str]:
    return dict(itertools.pairwise(stage.command))


def value_stages(layout: Layout) -> ValueStages:
    return ValueStages(layout, SupervisedStages(layout))


def test_supervised_stages_each_read_the_one_before(layout: Layout) -> None:
    stages = SupervisedStages(layout).all()
    assert stages[0].reads == ()
    for before, stage in itertools.pairwise(stages):
        assert stage.reads == (before,)
        assert str(before.output) in " ".join(stage.command)
    assert options(stages[-1])["--arch"] == "multiquery_transformer_small"
    assert "--joined-dictionary" in stages[2].command


def test_a_value_starts_from_the_policy_and_is_drawn_to_it(layout: Layout) -> None:
    for model in (dual("mlbertscore"), hybrid("bleu")):
        found = options(value_stages(layout).train(model))
        assert found["--finetune-from-model"] == found["--teacher-path"] == str(layout.policy)
        assert found["fairseq-train"] == str(layout.scored(model.metric, sampled=False))
    assert options(value_stages(layout).train(hybrid("bleu")))["--criterion"] == "hybrid"


def test_the_four_cells_differ_in_their_inputs_alone(layout: Layout) -> None:
    stages = {cell: value_stages(layout).train(model) for cell, model in CELLS.items()}
    varied = ("--value-encoder-input", "--value-positions", "--save-dir")
    rest = [
        {name: value for name, value in options(stage).items() if name not in varied}
        for stage in stages.values()
    ]
    for cell, stage in stages.items():
        assert "--teacher-path" not in stage.command
        found = options(stage)
        assert (found["--value-encoder-input"], found["--value-positions"]) == cell
    for other in rest[1:]:
        assert {k: v for k, v in other.items() if k.startswith("--")} == {
            k: v for k, v in rest[0].items() if k.startswith("--")
        }
    assert CELLS["reference", "every"] == cheating("bleu")


def test_relabelling_scores_by_the_metric_with_its_encoder(layout: Layout) -> None:
    stage = value_stages(layout).relabel("mlbertscore")
    assert options(stage)["--metric"] == "mlbertscore:model=encoder"
    assert options(value_stages(layout).relabel("bleu"))["--metric"] == "bleu"


def test_samples_have_a_folder_and_a_model_of_their_own(layout: Layout) -> None:
    greedy, sampled = dual("mlbertscore"), on_samples(dual("mlbertscore"))
    stages = value_stages(layout)
    relabelling = stages.relabel("mlbertscore", sampled=True)
    assert options(relabelling)["--samples"] == "2"
    assert "--samples" not in stages.relabel("mlbertscore").command
    assert relabelling.output != stages.relabel("mlbertscore").output
    assert options(stages.train(sampled))["fairseq-train"] == str(relabelling.output)
    assert stages.train(sampled).output != stages.train(greedy).output


def decoding(layout: Layout, system: systems.System) -> dict[str, str]:
    stage = systems.decoding_stage(layout, system, ())
    assert stage.output == layout.decoded(system.name)
    return options(stage)


def test_only_searches_by_the_metric_name_one(layout: Layout) -> None:
    model = MAIN_MODELS["mlbertscore"]
    by_value = decoding(layout, systems.joint(layout, model, "mcts", MCTS))
    assert by_value["--path"] == str(layout.value(model.name))
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
