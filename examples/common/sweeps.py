"""What fairseq-mcts-sweep has left in its folder."""

import json
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial


def read_trials(folder: Path, settings: Sequence[Setting]) -> list[Trial]:
    """The outcomes of a sweep in the order of its grid."""
    found = {}
    for path in sorted(folder.glob("trial-*.json")):
        trial = Trial(**json.loads(path.read_text(encoding="utf-8")))
        found[tuple(trial.flags)] = trial
    missing = [str(setting) for setting in settings if tuple(setting.flags()) not in found]
    if missing:
        raise FileNotFoundError(f"{folder}: there is no trial of {missing[0]}")
    return [found[tuple(setting.flags())] for setting in settings]
