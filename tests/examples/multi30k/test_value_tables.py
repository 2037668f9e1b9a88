"""The tables of values, from logs as the study leaves them."""

from examples.multi30k import value_tables
from examples.multi30k.layout import Layout
from tests.examples.multi30k.conftest import (
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
