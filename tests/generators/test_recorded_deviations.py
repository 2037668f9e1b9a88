"""How sure the network was, in records of searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.pictures.record_file import Record, read_records
from tests.report.runs import toy_search


def recorded(folder: Path, **options: Any) -> Record:
    path = folder / "searches.jsonl"
    toy_search((0,), path, **options)
    return read_records(path)[0]


def test_every_node_that_the_network_has_judged(tmp_path: Path) -> None:
    record = recorded(tmp_path, simulations=12, deviation=0.125)
    for step in record["steps"]:
        assert step["deviation"] == [0.125] * len(step["parent"])


def test_a_sentence_that_the_metric_has_judged_has_none(tmp_path: Path) -> None:
    settings = {"simulations": 40, "terminal": "metric", "metric": lambda sentence, tokens: 0.5}
    record = recorded(tmp_path, deviation=0.125, **settings)
    pairs = {
        (piece == "</s>", deviation)
        for step in record["steps"]
        for piece, deviation in zip(step["piece"], step["deviation"], strict=True)
    }
    assert pairs == {(True, None), (False, 0.125)}


def test_beams_have_them_where_values_are_read(tmp_path: Path) -> None:
    record = recorded(tmp_path, search="vgbs", beam=3, alpha=0.5, deviation=0.25)
    assert record["deviation"][0] is None  # the start, which is compared with nothing
    assert set(record["deviation"][1:]) == {0.25}


@pytest.mark.parametrize(
    "options", [{"search": "vgbs", "alpha": 0.0, "deviation": 0.25}, {"simulations": 3}]
)
def test_where_none_is_known_there_is_no_column(tmp_path: Path, options: dict[str, Any]) -> None:
    record = recorded(tmp_path, **options)
    trees = record["steps"] if record["kind"] == "tree" else [record]
    assert all("deviation" not in tree for tree in trees)
