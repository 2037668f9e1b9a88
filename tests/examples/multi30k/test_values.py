"""The stages that make values."""

from dataclasses import replace
from pathlib import Path

from examples.multi30k.layout import Layout
from examples.multi30k.supervised import SupervisedStages
from examples.multi30k.values import (
    CELLS,
    SEEDS,
    ValueStages,
    cheating,
    dual,
    hybrid,
    in_rounds,
    on_samples,
    with_seed,
)
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


def test_a_value_in_rounds_ends_where_decoders_look_for_it(layout: Layout) -> None:
    stages = value_stages(layout)
    for seed in SEEDS:
        model = with_seed(in_rounds("mlbertscore", 1), seed)
        made = stages.all(model)
        assert made[-1] == stages.train(model)
        assert made[-1].output == layout.value(model.folder).parent
        assert options(made[-1])["--save-dir"] == str(made[-1].output)
    assert len({stages.train(with_seed(in_rounds("bleu", 2), seed)).name for seed in SEEDS}) == 3


def test_only_a_metric_without_references_learns_from_other_text(layout: Layout) -> None:
    stages = value_stages(replace(layout, monolingual=Path("captions.en")))
    found = [stages.rounds(in_rounds(metric, 0)).relabel(0) for metric in ("mlbertscore", "bleu")]
    assert options(found[0])["--monolingual"] == "captions.en"
    assert "--monolingual" not in found[1].command
    assert found[0].name != found[1].name
