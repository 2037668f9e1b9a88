"""Reading what fairseq-train prints as JSON."""

import re
from pathlib import Path

import pytest

from examples.common.training_log import PROGRESS, last_validation

LOG = """
2026-01-01 | INFO | valid | {"epoch": 1, "valid_loss": "3.5", "valid_num_updates": "10"}
2026-01-01 | INFO | train_inner | {"epoch": 2, "loss": "1.5", "num_updates": "15"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_loss": "2.25", "valid_num_updates": "20"}
2026-01-01 | INFO | train | {"epoch": 2, "train_loss": "1.5", "train_num_updates": "20"}
"""


def test_numbers_are_those_of_the_last_validation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    assert last_validation(log) == {"epoch": 2.0, "loss": 2.25, "num_updates": 20.0}


def test_a_training_without_validation_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Traceback")
    with pytest.raises(ValueError, match=f"{log}: fairseq-train reports no validation"):
        last_validation(log)


def test_progress_is_that_of_the_training() -> None:
    assert re.findall(PROGRESS, LOG) == ["15"]
