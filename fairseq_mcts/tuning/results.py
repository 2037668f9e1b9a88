"""What a sweep has found out: one file per setting."""

import json
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

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


#: what the fields are read from a file as
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("flags", "hypotheses"), list),
    **dict.fromkeys(("scores", "signatures"), dict),
    **dict.fromkeys(("tokens", "charged", "made"), int),
    "seconds": (int, float),
    "value": (int, float, type(None)),
}


class TrialStore:
    """Trials in a folder, each in a file that is there as a whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> Trial | None:
        """None if there is no such trial; one whose file is damaged is named, and tried again."""
        path = self._path(key)
        try:
            return _parse(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            told = f"{path} is damaged ({error}): its setting is tried again"
            print(told, file=sys.stderr, flush=True)
            return None

    def write(self, key: str, trial: Trial) -> None:
        text = json.dumps(asdict(trial), ensure_ascii=False, indent=1)
        with explained_if_full(self._folder), complete_file(self._path(key)) as stream:
            stream.write(text.encode())

    def _path(self, key: str) -> Path:
        return self._folder / f"trial-{key}.json"


def _parse(content: Any) -> Trial:
    """Refuses what no sweep has written."""
    if not isinstance(content, dict):
        raise ValueError("no trial")
    for field in fields(Trial):
        if not isinstance(content.get(field.name), _KINDS[field.name]):
            raise ValueError(f"no {field.name}")
    strange = sorted(content.keys() - _KINDS.keys())
    if strange:
        raise ValueError(f"{strange[0]} in it")
    if not all(isinstance(score, (int, float)) for score in content["scores"].values()):
        raise ValueError("scores that are no numbers")
    return Trial(**content)
