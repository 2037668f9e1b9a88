"""Plots of a sweep: the score as trials went on, by each swept option, and by other objectives."""

import math
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.objectives import Objective, pareto_front
from fairseq_mcts.tuning.results import Trial

_COLUMNS = 3
_SUFFIXES = (".png", ".svg", ".pdf")


def import_matplotlib(path: Path) -> Any:
    """Before hours of decoding, not after them."""
    if path.suffix not in _SUFFIXES:
        raise ValueError(f"--plots {path}: expected a name that ends in {', '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"--plots {path}: there is no folder {path.parent}")
    try:
        import matplotlib
    except ImportError:
        raise ImportError("--plots: needs matplotlib: pip install 'fairseq_mcts[report]'") from None
    matplotlib.use("agg")
    from matplotlib import pyplot

    return pyplot


def draw(
    path: Path,
    settings: Sequence[Setting],
    trials: Sequence[Trial],
    metric: str,  # that chooses
    objectives: Sequence[Objective],
) -> None:
    """Writes all plots into one file."""
    pyplot = import_matplotlib(path)
    names = [name for name, _ in settings[0].values]
    others = [one for one in objectives if one.name != metric]
    count = 1 + len(names) + len(others)
    rows = math.ceil(count / _COLUMNS)
    figure, grid = pyplot.subplots(
        rows, _COLUMNS, figsize=(4 * _COLUMNS, 3 * rows), squeeze=False, layout="constrained"
    )
    panels = list(grid.flat)
    scores = [trial.scores[metric] for trial in trials]
    panels[0].plot(scores, "o", label="trials")
    panels[0].plot(list(accumulate(scores, max)), label="best so far")
    panels[0].set(xlabel="trial", ylabel=metric)
    panels[0].legend()
    for panel, name in zip(panels[1:], names, strict=False):
        _by_option(panel, [dict(setting.values)[name] for setting in settings], scores)
        panel.set(xlabel=f"--{name}", ylabel=metric)
    for panel, objective in zip(panels[1 + len(names) :], others, strict=False):
        figures = [objective.of(trial) for trial in trials]
        front = sorted(
            pareto_front(trials, [Objective(metric), objective]), key=figures.__getitem__
        )
        panel.plot(figures, scores, "o")
        panel.plot([figures[one] for one in front], [scores[one] for one in front], "o-")
        panel.set(xlabel=objective.name, ylabel=metric)
    for panel in panels[count:]:
        panel.set_axis_off()
    figure.savefig(path)
    pyplot.close(figure)


def _by_option(panel: Any, values: Sequence[str], scores: Sequence[float]) -> None:
    """By numbers if all are some, else by names."""
    try:
        panel.plot([float(value) for value in values], scores, "o")
    except ValueError:
        panel.plot(list(values), scores, "o")
