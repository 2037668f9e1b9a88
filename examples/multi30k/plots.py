"""The plots of the study."""

from pathlib import Path

from examples.multi30k.decoding_tables import TITLES
from examples.multi30k.layout import Layout
from examples.multi30k.sweep_tables import scaling_trials, trials_of
from examples.multi30k.tuning import BEAM


def plot_scaling(layout: Layout, metric: str, path: Path) -> bool:
    """Plot scores by budget, of the metric itself and BLEU; False if nothing was decoded yet."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = scaling_trials(layout, metric)
    if not found:
        return False
    shown = [metric] if metric == "bleu" else [metric, "bleu"]
    figure, axes = pyplot.subplots(
        1, len(shown), figsize=(5.5 * len(shown), 4), squeeze=False, layout="constrained"
    )
    beam = _best_beam(layout)
    for axis, name in zip(axes[0], shown, strict=True):
        for decoder, trials in found.items():
            scores = [100 * trial.scores[name] for trial in trials.values()]
            axis.plot([int(budget) for budget in trials], scores, "o-", label=TITLES[decoder])
        if beam:
            axis.axhline(100 * beam[name], color="grey", linestyle="--", label="Beam search")
        axis.set(xscale="log", xlabel="budget: network evaluations per token", ylabel=TITLES[name])
        axis.grid(alpha=0.3)
    figure.suptitle(f"en-{layout.target}, searching for {TITLES[metric]}")
    # beside the plots: within them it would hide points
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper")
    figure.savefig(path)
    pyplot.close(figure)
    return True


def _best_beam(layout: Layout) -> dict[str, float]:
    """The scores of the beam search that tuning chose, on the same validation sentences."""
    trials = trials_of(layout.sweep("beam"), BEAM)
    best = max(trials.values(), key=lambda trial: trial.scores["bleu"], default=None)
    return {} if best is None else best.scores
