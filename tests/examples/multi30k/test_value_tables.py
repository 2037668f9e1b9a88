"""The tables of values, from logs as the study leaves them."""

from examples.multi30k import value_tables
from examples.multi30k.layout import Layout
from examples.multi30k.values import in_rounds
from tests.examples.multi30k.conftest import (
    Trials,
    cells,
    write_validation,
)


def test_errors_of_values_beside_the_paper(layout: Layout) -> None:
    write_validation(layout, "value-bleu-reference-every", value_mae=0.0512)
    under_way = layout.pair / "stages" / "value-bleu-source-every.log"
    under_way.write_text("no validation yet")
    under_way.with_suffix(".json").write_text('{"fingerprint": "", "finished": false}')
    rows = cells(value_tables.value_errors(layout))
    assert rows["source"] == ["–", "0.112", "–", "0.111"]
    assert rows["reference"] == ["0.051", "0.065", "–", "0.002"]

    write_validation(layout, "dual-mlbertscore", value_mae=0.04, value_pearson=0.9)
    rows = cells(value_tables.all_qualities(layout))
    assert rows["dual-mlbertscore"] == ["0.0400", "–", "–", "0.9000", "–", "–", "–", "–"]


def test_recipes_show_what_they_take_and_what_they_bring(layout: Layout, trials: Trials) -> None:
    assert value_tables.recipes(layout).count("\n") == 1  # nothing is made yet
    trials.write("recipe-beam", {"beam": ("5",)}, [0.8], chrf=[0.60])
    model = in_rounds("mlbertscore", 0)
    budget = {"search-budget": ("50",)}
    trials.write(f"{model.name}-recipe-vgbs", budget, [0.81], chrf=[0.59], value=0.82)
    assert value_tables.recipes(layout).count("\n") == 1
    trials.write(f"{model.name}-recipe-mcts", budget, [0.82], chrf=[0.58], value=0.80)
    write_validation(layout, "value-0", value_pearson_within=0.66)
    [row] = list(cells(value_tables.recipes(layout)).values())[2:]
    assert row == ["0", "0.660", "+1.00", "-1.00", "+0.0100", "+2.00", "-2.00", "-0.0200"]
