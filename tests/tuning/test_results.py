"""Files of trials, also damaged ones."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.tuning.results import TrialStore
from tests.tuning.trials import trial

WRITTEN: dict[str, Any] = asdict(trial(0.5))


def test_a_trial_is_read_as_it_was_written(tmp_path: Path) -> None:
    store = TrialStore(tmp_path)
    assert store.read("key") is None
    store.write("key", trial(0.5))
    assert store.read("key") == trial(0.5)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "Expecting value"),
        (json.dumps(WRITTEN)[:-20].encode(), ""),
        (b"\xff\xfe", "codec can't decode"),
        (b"[" * 100_000, ""),
        (b"[1]", "no trial"),
        (json.dumps({**WRITTEN, "tokens": "10"}).encode(), "no tokens"),
        (json.dumps({"flags": []}).encode(), "no scores"),
        (json.dumps({**WRITTEN, "more": 1}).encode(), "more in it"),
        (json.dumps({**WRITTEN, "scores": {"bleu": None}}).encode(), "scores that are no numbers"),
    ],
)
def test_a_damaged_file_is_named_and_its_setting_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, fault: str
) -> None:
    path = tmp_path / "trial-key.json"
    path.write_bytes(content)
    assert TrialStore(tmp_path).read("key") is None
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path} is damaged (")
    assert fault in line
    assert line.endswith("its setting is tried again")
