"""Costs from the logs of fairseq-generate."""

from pathlib import Path

import pytest

from examples.common.cost import Cost, read_cost

LOG = (
    "x\n--search beam: 41 sentences, 1,084 tokens; network evaluations: 10,840 charged, 542 made\n"
    "Translated 1,041 sentences (84 tokens) in 0.9s (46.91 sentences/s)\n"
)


def test_cost_is_what_the_run_reports(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    assert read_cost(log) == Cost(seconds=0.9, charged=10.0, made=0.5)

    for line in LOG.splitlines()[1:]:
        log.write_text(LOG.replace(line, "Traceback"))
        with pytest.raises(ValueError, match="reports no time or no evaluations"):
            read_cost(log)
