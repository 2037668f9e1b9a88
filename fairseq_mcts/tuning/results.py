"""What a sweep has found out: one file per setting."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fairseq_mcts.data.files import complete_file
from fairseq_mcts.work import explained_if_full


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

    def read(self, key: str) -> Trial | None:
        try:
            return Trial(**json.loads(self._path(key).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def write(self, key: str, trial: Trial) -> None:
        text = json.dumps(asdict(trial), ensure_ascii=False, indent=1)
        with explained_if_full(self._folder), complete_file(self._path(key)) as stream:
            stream.write(text.encode())

    def _path(self, key: str) -> Path:
        return self._folder / f"trial-{key}.json"
