"""What a sweep is for: metrics to be high, evaluations to be few."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.metrics import Metric
from fairseq_mcts.tuning.results import Trial

EVALUATIONS = ("charged", "made")


@dataclass(frozen=True)
class Objective:
    """A figure of a trial."""

    name: str

    @property
    def is_metric(self) -> bool:
        return self.name not in EVALUATIONS

    def of(self, trial: Trial) -> float:
        """As people read it: a metric's score, or evaluations per output token."""
        if self.is_metric:
            return trial.scores[self.name]
        count: int = getattr(trial, self.name)
        return count / trial.tokens

    def rank(self, trial: Trial) -> float:
        """The smaller the better."""
        return -self.of(trial) if self.is_metric else self.of(trial)


def parse_objectives(names: Sequence[str] | None, metrics: Sequence[Metric]) -> list[Objective]:
    """Those of --objective; without any the first metric."""
    known = [*(metric.name for metric in metrics), *EVALUATIONS]
    for name in names or ():
        if name not in known:
            raise ValueError(f"--objective {name}: is none of {', '.join(known)}")
    if names is not None and len(set(names)) < len(names):
        raise ValueError("--objective: the same is asked for twice")
    return [Objective(name) for name in names or [metrics[0].name]]


def judge(objectives: Sequence[Objective], metrics: Sequence[Metric]) -> Metric:
    """The metric that chooses and prunes: the one objective if that is one, else the first."""
    if len(objectives) == 1:
        return next((one for one in metrics if one.name == objectives[0].name), metrics[0])
    return metrics[0]


def refuse_pruning(prune: str | None, objectives: Sequence[Objective]) -> None:
    """Refuses objectives of which a part of the sentences can't tell what is hopeless."""
    if prune is None:
        return
    if len(objectives) > 1:
        raise ValueError(f"--prune {prune}: not with several objectives")
    if not objectives[0].is_metric:
        raise ValueError(
            f"--prune {prune}: not with --objective {objectives[0].name}: settings are given up by "
            "a metric's score"
        )


def pareto_front(trials: Sequence[Trial], objectives: Sequence[Objective]) -> list[int]:
    """The trials that no other beats: as good in all objectives and better in one.

    Of trials with equal figures the first stands for all.
    """
    points = [tuple(one.rank(trial) for one in objectives) for trial in trials]
    return [
        number
        for number, point in enumerate(points)
        if point not in points[:number]
        and not any(
            other != point and all(b <= a for a, b in zip(point, other, strict=True))
            for other in points
        )
    ]
