"""The table of the ablation from logs of fairseq-train."""

from pathlib import Path

from examples.ablation.plan import CELLS
from examples.ablation.results import Result, read_result, table

LOG = """
2026-01-01 | INFO | valid | {"epoch": 1, "valid_value_mae": "0.3", "valid_value_mae_of_mean": "0.2"}
2026-01-01 | INFO | train | {"epoch": 2, "train_value_loss": "1.5"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_value_mae": "0.1251", \
"valid_value_mae_of_mean": "0.2", "valid_value_pearson": "0.5"}
"""


def test_result_is_that_of_the_last_validation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    assert read_result(CELLS[0], log) == Result(CELLS[0], 0.1251, 0.2, 0.5)


def test_table_has_a_line_for_each_cell() -> None:
    results = [Result(cell, 0.1, 0.2, 0.5) for cell in CELLS]
    lines = table(results).splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        *(["source", "every"], ["source", "finished"]),
        *(["reference", "every"], ["reference", "finished"]),
        ["source", "every"],
    ]
    assert "hybrid" in lines[-1]
    assert len(set(map(len, lines))) == 1
