"""Records of searches that are damaged are named, with the line."""

import json
from pathlib import Path

import pytest

from fairseq_mcts.pictures.record_file import FORMAT, read_records
from fairseq_mcts.report.page_data import packed_record

SEARCH = {
    **{"format": FORMAT, "id": 3, "kind": "samples", "search": "sr", "score": 0.5},
    **{"source": ["a"], "output": ["b"], "parent": [-1, 0], "piece": ["", "b"]},
    **{"logprob": [0.0, -0.5], "score": [None, 0.25], "chosen": [1], "samples": [1]},
}


def test_numbers_that_json_has_no_room_for_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "searches.jsonl"
    line = json.dumps(SEARCH)
    path.write_text(f"{line}\n")
    assert read_records(path) == {3: SEARCH}
    for number in ("1e999", "-1e999", "NaN", "Infinity"):
        path.write_text(f"{line}\n{line.replace('-0.5', number)}\n")
        with pytest.raises(ValueError, match=rf"^{path}, line 2: holds no search: .*{number} is "):
            read_records(path)


def test_a_page_gets_no_infinity() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed_record({**SEARCH, "score": [float("inf"), 0.25]})
