"""The budget curves as one picture."""

from collections.abc import Sequence
from pathlib import Path

from examples.budget_curves.curves import Curve
from examples.budget_curves.scores import Scores
from fairseq_mcts.metrics import Metric


def plot(curves: Sequence[Curve], scores: Scores, metrics: Sequence[Metric], path: Path) -> None:
    """A column for each group of ways, a row for each metric; beam search is the dashed line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = list(dict.fromkeys(one.way.group for one in curves if one is not scores.baseline))
    size = (3.4 * len(groups), 3.2 * len(metrics))
    figure, axes = pyplot.subplots(
        len(metrics), len(groups), figsize=size, squeeze=False, sharey="row", layout="constrained"
    )
    for row, metric in enumerate(metrics):
        level = metric.report_factor * scores.beam(metric)
        for column, group in enumerate(groups):
            axis = axes[row][column]
            for curve in (one for one in curves if one.way.group == group):
                height = [
                    metric.report_factor * scores.score(curve, one, metric) for one in curve.trials
                ]
                axis.plot(list(curve.trials), height, "o-", markersize=3, label=curve.way.name)
            axis.axhline(level, color="grey", linestyle="--", label="beam")
            axis.set(xscale="log", xlabel="budget")
            axis.grid(alpha=0.3)
            if row == 0:
                axis.set_title(group)
                axis.legend(fontsize="small")
        axes[row][0].set_ylabel(metric.name)
    figure.savefig(path)
    pyplot.close(figure)
