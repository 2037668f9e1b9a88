"""What a sweep has found out: one file per setting, and the table of a sweep."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tabulate import tabulate

from fairseq_mcts.data.files import complete_file
from fairseq_mcts.metrics import Metric
from fairseq_mcts.tuning.grid import Setting


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


def as_text(settings: Sequence[Setting], trials: Sequence[Trial], metrics: Sequence[Metric]) -> str:
    """A line per setting; the best by the first metric is marked, and its flags come last."""
    header = [*(name for name, _ in settings[0].values), *(metric.name for metric in metrics)]
    header += ["charged", "made", "seconds", ""]
    rows = [
        [
            *(value for _, value in setting.values),
            *(metric.format(trial.scores[metric.name]) for metric in metrics),
            *(f"{count / trial.tokens:.1f}" for count in (trial.charged, trial.made)),
            f"{trial.seconds:.1f}",
        ]
        for setting, trial in zip(settings, trials, strict=True)
    ]
    best = best_of(trials, metrics[0].name)
    rows[best].append("*")
    table = tabulate(rows, header, tablefmt="plain", stralign="right", disable_numparse=True)
    return (
        f"{table}\n\n"
        "charged, made: evaluations per output token, by the paper's rule and as needed\n"
        f"best by {metrics[0].name}: {settings[best]}"
    )
