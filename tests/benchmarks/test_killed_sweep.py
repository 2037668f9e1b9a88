"""What the benchmark of killed sweeps compares."""

import json
from pathlib import Path

import killed_sweep

SAID = """2/2 --beam 2: bleu 20.00 (1.5 s)

12 sentences
  beam    bleu    made    seconds
     1   10.00     1.0        {}
     2   20.00     2.0        {}   *

best by bleu: --beam 2
to decode so: --search-settings {}
"""


def test_tables_are_compared_without_seconds() -> None:
    one = killed_sweep.table(SAID.format("1.5", "0.7", "here"))
    assert one == killed_sweep.table(SAID.format("0.3", "12.9", "there"))
    assert one != killed_sweep.table(SAID.format("1.5", "0.7", "here").replace("20.00", "20.01"))
    assert "best by bleu: --beam 2" in one


def test_trials_are_compared_without_seconds(tmp_path: Path) -> None:
    for folder, seconds, score in (("one", 1.0, 0.5), ("two", 2.0, 0.5), ("three", 1.0, 0.6)):
        (tmp_path / folder).mkdir()
        trial = {"seconds": seconds, "scores": {"bleu": score}}
        (tmp_path / folder / "trial-a.json").write_text(json.dumps(trial))
    one, two, three = (killed_sweep.content(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two != three
