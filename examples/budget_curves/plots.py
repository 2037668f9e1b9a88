"""The budget curves as pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examples.budget_curves.curves import Curve
from examples.budget_curves.scores import Scores
from examples.budget_curves.ways import V_MCTS
from fairseq_mcts.metrics import Metric

_WIDTH, _HEIGHT = 3.4, 3.2  # inches of a panel
_MARKERS = "os^DvP*X"  # one a group, where several share a panel
# letters stay letters, and the same curves give the same file
_SAME_EVERYWHERE: Any = {"svg.fonttype": "none", "svg.hashsalt": "budget_curves"}

# what a panel shows, by its title
Panels = Mapping[str, Sequence[Curve]]


def plot(curves: Sequence[Curve], scores: Scores, metrics: Sequence[Metric], path: Path) -> None:
    """A column for each group of ways, a row for each metric; beam search is the dashed line."""
    groups = dict.fromkeys(one.way.group for one in curves if one is not scores.baseline)
    panels = {group: [one for one in curves if one.way.group == group] for group in groups}
    _draw(panels, scores, metrics, path, scale=1.0)


def plot_v_mcts(
    curves: Sequence[Curve], scores: Scores, metrics: Sequence[Metric], path: Path
) -> bool:
    """All ways of V-MCTS in one panel for each metric; whether there are any."""
    shown = [one for one in curves if one.way.group in V_MCTS]
    if shown:
        _draw({"V-MCTS": shown}, scores, metrics, path, scale=2.0)
    return bool(shown)


def _draw(
    panels: Panels, scores: Scores, metrics: Sequence[Metric], path: Path, scale: float
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (scale * _WIDTH * len(panels), scale * _HEIGHT * len(metrics))
    layout: dict[str, Any] = {"squeeze": False, "sharey": "row", "layout": "constrained"}
    with matplotlib.rc_context(_SAME_EVERYWHERE):
        figure, axes = pyplot.subplots(len(metrics), len(panels), figsize=size, **layout)
        for row, metric in enumerate(metrics):
            for axis, (title, curves) in zip(axes[row], panels.items(), strict=True):
                _draw_panel(axis, curves, scores, metric)
                if row == 0:
                    axis.set_title(title)
                    axis.legend(fontsize="small")
            axes[row][0].set_ylabel(metric.name)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def _draw_panel(axis: Any, curves: Sequence[Curve], scores: Scores, metric: Metric) -> None:
    """A curve for each way."""
    groups = list(dict.fromkeys(curve.way.group for curve in curves))
    for curve in curves:
        height = [metric.report_factor * scores.score(curve, one, metric) for one in curve.trials]
        marker = _MARKERS[groups.index(curve.way.group)]
        label = curve.way.name
        axis.plot(list(curve.trials), height, f"{marker}-", markersize=3, label=label)
    axis.axhline(
        metric.report_factor * scores.beam(metric), color="grey", linestyle="--", label="beam"
    )
    axis.set(xscale="log", xlabel="budget")
    axis.grid(alpha=0.3)
