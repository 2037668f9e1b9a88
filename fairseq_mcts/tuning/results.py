"""What a sweep has found out: one file per setting."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fairseq_mcts.data.files import complete_file


@dataclass(frozen=True)
class Trial:
    """The outcome of one setting."""

    flags: list[str]
    scores: dict[str, float]  # by the metrics' names, on their own scale of 0 to 1
    signatures: dict[str, str]
    hypotheses: list[str]
    tokens: int  # of all hypotheses, eos counted
    charged: int  # network evaluations by the paper's accounting
    made: int  # those that had to be made
    seconds: float
    value: float | None = None  # mean of the hypotheses' values; None if a search asks for none


class TrialStore:
    """Trials in a folder, each in a file that is there as a whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> Trial | None:
        try:
            return Trial(**json.loads(self._path(key).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def write(self, key: str, trial: Trial) -> None:
        text = json.dumps(asdict(trial), ensure_ascii=False, indent=1)
        with complete_file(self._path(key)) as stream:
            stream.write(text.encode())

    def _path(self, key: str) -> Path:
        return self._folder / f"trial-{key}.json"


def best_of(trials: Sequence[Trial], metric: str) -> int:
    """Number of the trial with the highest score; of equal ones the first."""
    return max(range(len(trials)), key=lambda number: trials[number].scores[metric])
