"""The tables of the page."""

from collections.abc import Callable, Sequence

from examples.budget_curves.charges import charge
from examples.budget_curves.curves import Curve
from examples.budget_curves.scores import Scores
from examples.budget_curves.ways import MIXES, SAMPLES
from examples.common.markdown import NOTHING, p_value, table
from fairseq_mcts.metrics import Metric
from fairseq_mcts.metrics.bootstrap import PairedResult


def settings(curves: Sequence[Curve]) -> str:
    """What tuning chose."""
    rows = [[curve.way.group, curve.way.name, f"`{' '.join(curve.flags)}`"] for curve in curves]
    return table(["", "way", "tuned settings"], rows)


def by_budget(curves: Sequence[Curve], scores: Scores, metric: Metric) -> str:
    """Scores by one metric, with p-values of the difference to beam search."""

    def cell(curve: Curve, budget: int) -> str:
        return with_p_value(metric, scores.against_beam(curve, budget, metric))

    others = [curve for curve in curves if curve is not scores.baseline]
    beam = f"Beam search: {metric.format(scores.beam(metric))}."
    return f"{beam}\n\n{_by_budget(others, cell)}"


def evaluations(curves: Sequence[Curve]) -> str:
    """Charged and made, per output token."""

    def cell(curve: Curve, budget: int) -> str:
        trial = curve.trials[budget]
        return f"{charge(trial):.1f} / {trial.made / trial.tokens:.1f}"

    return _by_budget(curves, cell)


def promises(curves: Sequence[Curve], scores: Scores, metric: Metric) -> str:
    """How far the values of what was chosen lie above its scores."""

    def cell(curve: Curve, budget: int) -> str:
        value = curve.trials[budget].value
        score = scores.score(curve, budget, metric)
        return NOTHING if value is None else f"{(value - score) * metric.report_factor:+.4f}"

    return _by_budget([curve for curve in curves if curve.way.by_value], cell)


def _by_budget(curves: Sequence[Curve], cell: Callable[[Curve, int], str]) -> str:
    """A row for each way and a column for each budget."""
    budgets = sorted({budget for curve in curves for budget in curve.trials})
    rows = [
        [
            f"{curve.way.group}: {curve.way.name}",
            *(cell(curve, one) if one in curve.trials else NOTHING for one in budgets),
        ]
        for curve in curves
    ]
    return table(["", *map(str, budgets)], rows)


def growth(curves: Sequence[Curve], scores: Scores) -> str:
    """The greatest budget against the best smaller one: what falls is seen here."""
    rows = []
    for curve in curves:
        *smaller, greatest = sorted(curve.trials)
        if not smaller:
            continue
        metric = scores.searched_for(curve)
        heights = {budget: scores.score(curve, budget, metric) for budget in smaller}
        best = max(heights, key=heights.__getitem__)
        paired = scores.against(curve, greatest, curve, best, metric)
        gain = paired.difference * metric.report_factor
        rows.append(
            [
                *(f"{curve.way.group}: {curve.way.name}", metric.name),
                *(str(best), metric.format(paired.baseline)),
                *(str(greatest), metric.format(paired.score)),
                *(f"{gain:+.{metric.report_digits}f}", p_value(paired.p_value)),
            ]
        )
    header = ["", "by", "best smaller budget", "", "greatest budget", "", "difference", "p"]
    return table(header, rows)


def equal_charge(curves: Sequence[Curve], scores: Scores) -> str:
    """Samples with and without replacement, in pairs of about the same charge."""
    by_name = {curve.way.name: curve for curve in curves if curve.way.group == SAMPLES}
    plain, distinct = by_name.get("sr"), by_name.get("sr-distinct")
    if plain is None or distinct is None:
        return ""
    rows = []
    for budget in distinct.trials:
        pairs = [
            (metric, scores.against(distinct, budget, plain, budget, metric))
            for metric in scores.metrics
        ]
        before = [metric.format(pair.baseline) for metric, pair in pairs]
        rows.append(_sampled("with", plain, budget, before))
        after = [with_p_value(metric, pair) for metric, pair in pairs]
        rows.append(_sampled("without", distinct, budget, after))
    names = [metric.name for metric in scores.metrics]
    return table(["replacement", "samples", "charged", "made", *names], rows)


def _sampled(replacement: str, curve: Curve, budget: int, cells: Sequence[str]) -> list[str]:
    trial = curve.trials[budget]
    made = trial.made / trial.tokens
    return [replacement, str(curve.numbers[budget]), f"{charge(trial):.1f}", f"{made:.1f}", *cells]


def mixes(curves: Sequence[Curve], scores: Scores) -> str:
    """Samples by a metric, by mixes of it with the likelihood, and by the likelihood alone."""
    shown = [one for one in curves if one.way.group == MIXES or one.way.name == "sr"]
    if len(shown) < 2:
        return ""
    budget = max(set.intersection(*(set(curve.trials) for curve in shown)))
    rows = [["beam", *(metric.format(scores.beam(metric)) for metric in scores.metrics)]]
    for curve in shown:
        pairs = [(metric, scores.against_beam(curve, budget, metric)) for metric in scores.metrics]
        rows.append([curve.way.name, *(with_p_value(*pair) for pair in pairs)])
    return table([f"budget {budget}", *(metric.name for metric in scores.metrics)], rows)


def with_p_value(metric: Metric, paired: PairedResult) -> str:
    return f"{metric.format(paired.score)} ({p_value(paired.p_value)})"
