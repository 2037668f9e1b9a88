"""What a sweep has found out, as text."""

from collections.abc import Sequence

from tabulate import tabulate

from fairseq_mcts.metrics import Metric
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.objectives import Objective, pareto_front
from fairseq_mcts.tuning.proposals import Outcome
from fairseq_mcts.tuning.results import Trial


def as_text(
    settings: Sequence[Setting],
    trials: Sequence[Trial],
    metrics: Sequence[Metric],
    best: int,
    judge: Metric,  # by which it is the best
) -> str:
    """A line per setting; the best one is marked, and its flags come last."""
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
    rows[best].append("*")
    table = tabulate(rows, header, tablefmt="plain", stralign="right", disable_numparse=True)
    return (
        f"{table}\n\n"
        "charged, made: evaluations per output token, by the paper's rule and as needed\n"
        f"best by {judge.name}: {settings[best]}"
    )


def given_up_as_text(given_up: Sequence[tuple[Setting, Outcome]], metric: Metric) -> str:
    """A line per setting."""
    lines = [
        f"  {setting}: {metric.name} {metric.format(outcome.score)} after part {outcome.parts}"
        for setting, outcome in given_up
    ]
    return "\n".join([f"{len(given_up)} given up:", *lines])


def elsewhere_as_text(settings: Sequence[Setting]) -> str:
    """A line per setting that other commands have not finished."""
    lines = [f"  {setting}" for setting in settings]
    what = f"{len(settings)} under way in other commands and not in the table below:"
    return "\n".join([what, *lines])


def front_as_text(
    settings: Sequence[Setting],
    trials: Sequence[Trial],
    metrics: Sequence[Metric],
    objectives: Sequence[Objective],
) -> str:
    """The settings that no other beats in all objectives, the best by the first one above."""
    front = pareto_front(trials, objectives)
    front.sort(key=lambda number: objectives[0].rank(trials[number]))
    by_name = {metric.name: metric for metric in metrics}
    rows = []
    for number in front:
        figures = [(by_name.get(one.name), one.of(trials[number])) for one in objectives]
        shown = [f"{value:.1f}" if by is None else by.format(value) for by, value in figures]
        rows.append([*shown, str(settings[number])])
    header = [*(one.name for one in objectives), "flags"]
    aligned = ["right"] * len(objectives) + ["left"]
    table = tabulate(rows, header, tablefmt="plain", colalign=aligned, disable_numparse=True)
    return f"beaten by no other setting in all objectives ({len(front)} of {len(trials)}):\n{table}"
