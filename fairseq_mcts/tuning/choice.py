"""Which setting a sweep chooses: the best by its metric, of those that cost no other too much."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.metrics import Metric
from fairseq_mcts.tuning.results import Trial


@dataclass(frozen=True)
class Bound:
    """A metric that a chosen setting keeps: how far it may be below the best setting by it."""

    metric: Metric
    points: float  # as tables show the metric

    def holds(self, trial: Trial, trials: Sequence[Trial]) -> bool:
        name = self.metric.name
        best = max(other.scores[name] for other in trials)
        return (best - trial.scores[name]) * self.metric.report_factor <= self.points


def parse_bounds(texts: Sequence[str] | None, metrics: Sequence[Metric]) -> list[Bound]:
    """Those of --keep, METRIC=POINTS each."""
    by_name = {metric.name: metric for metric in metrics}
    bounds: dict[str, Bound] = {}
    for text in texts or ():
        name, _, number = text.partition("=")
        if name not in by_name:
            known = ", ".join(by_name)
            raise ValueError(f"--keep {text}: {name} is no --sweep-metric (there are {known})")
        if name in bounds:
            raise ValueError(f"--keep {text}: {name} is given twice")
        bounds[name] = Bound(by_name[name], _points(text, number))
    return list(bounds.values())


def _points(text: str, number: str) -> float:
    try:
        points = float(number)
    except ValueError:
        points = -1.0
    if not 0 <= points < float("inf"):
        raise ValueError(f"--keep {text}: expected METRIC=POINTS, a number from 0 on")
    return points


def choose(trials: Sequence[Trial], metric: str, bounds: Sequence[Bound] = ()) -> int:
    """Number of the trial with the highest score within all bounds; of equal ones the first."""
    allowed = [
        number
        for number, trial in enumerate(trials)
        if all(bound.holds(trial, trials) for bound in bounds)
    ]
    if not allowed:
        asked = " ".join(f"--keep {bound.metric.name}={bound.points:g}" for bound in bounds)
        raise ValueError(f"{asked}: no setting is within all of them")
    return max(allowed, key=lambda number: trials[number].scores[metric])
