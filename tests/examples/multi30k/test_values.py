"""The stages that make values."""

from examples.multi30k.layout import Layout
from examples.multi30k.supervised import SupervisedStages
from examples.multi30k.values import CELLS, ValueStages, cheating, dual, hybrid, on_samples
from tests.examples.multi30k.conftest import options


def value_stages(layout: Layout) -> ValueStages:
    return ValueStages(layout, SupervisedStages(layout))


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
