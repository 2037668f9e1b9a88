"""The result of fairseq-mcts-score, as a table for people and as JSON for programs."""

from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from fairseq_mcts.cli.optimised import Optimised
from fairseq_mcts.metrics import Metric, PairedResult

_MARK = "*"


@dataclass
class SystemScores:
    """One system's scores, by the name of the metric."""

    optimised: Optimised | None  # by its decoding; None: not stated
    scores: dict[str, float]
    tests: dict[str, PairedResult]  # against the baseline

    @property
    def spec(self) -> str | None:
        """The metric that its decoding optimised, "none", or None if not stated."""
        return None if self.optimised is None else self.optimised.spec


@dataclass
class Comparison:
    """Everything that was computed."""

    metrics: list[Metric]
    systems: dict[str, SystemScores]
    baseline: str
    sentences: int
    resamples: int
    seed: int

    def is_partial(self, system: str, metric: Metric) -> bool:
        """Whether the system's decoding optimised `metric`, or another one by the same judge."""
        optimised = self.systems[system].optimised
        return optimised is not None and optimised.touches(metric)


def as_text(comparison: Comparison) -> str:
    """The table, the marks' meaning, and the signatures."""
    header = ["system", *(metric.name for metric in comparison.metrics), "optimised"]
    rows = []
    for name, scores in comparison.systems.items():
        cells = [_cell(comparison, name, metric) for metric in comparison.metrics]
        rows.append([name, *cells, scores.spec or "not stated"])
    table = tabulate(rows, header, tablefmt="plain", disable_numparse=True)
    lines = [table, "", *_notes(comparison), "", "signatures:"]
    lines += [f"  {metric.name}: {metric.signature()}" for metric in comparison.metrics]
    return "\n".join(lines)


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The same as plain data; scores on the metrics' own scale of 0 to 1."""
    return {
        "sentences": comparison.sentences,
        "baseline": comparison.baseline,
        "bootstrap": {"resamples": comparison.resamples, "seed": comparison.seed},
        "metrics": {
            metric.name: {
                "signature": metric.signature(),
                "privileged": metric.privileged,
                "report_factor": metric.report_factor,
            }
            for metric in comparison.metrics
        },
        "systems": {
            name: {
                "optimised": scores.spec,
                "scores": {
                    metric.name: _json_score(comparison, name, metric)
                    for metric in comparison.metrics
                },
            }
            for name, scores in comparison.systems.items()
        },
    }


def _json_score(comparison: Comparison, system: str, metric: Metric) -> dict[str, Any]:
    scores = comparison.systems[system]
    entry: dict[str, Any] = {
        "score": scores.scores[metric.name],
        "optimised": comparison.is_partial(system, metric),
    }
    test = scores.tests.get(metric.name)
    if test is not None:
        entry.update(
            difference=test.difference,
            p_value=test.p_value,
            bootstrap_mean=test.mean,
            bootstrap_interval=test.interval,
        )
    return entry


def _cell(comparison: Comparison, system: str, metric: Metric) -> str:
    scores = comparison.systems[system]
    cell = metric.format(scores.scores[metric.name])
    if comparison.is_partial(system, metric):
        cell += _MARK
    test = scores.tests.get(metric.name)
    if test is not None:
        sign = "-" if test.difference < 0 else "+"
        p_value = "p<0.001" if test.p_value < 0.001 else f"p={test.p_value:.3f}"
        cell += f" ({sign}{metric.format(abs(test.difference))}, {p_value})"
    return cell


def _notes(comparison: Comparison) -> list[str]:
    notes = [f"{comparison.sentences} sentences"]
    if any(scores.tests for scores in comparison.systems.values()):
        notes.append(
            f"differences to {comparison.baseline}: paired bootstrap, {comparison.resamples} "
            f"resamples, seed {comparison.seed}"
        )
    if any(
        comparison.is_partial(system, metric)
        for system in comparison.systems
        for metric in comparison.metrics
    ):
        notes.append(
            f"{_MARK} the system's decoding optimised this metric, or one by the same encoder: "
            "judge it by the other columns"
        )
    if any(scores.optimised is None for scores in comparison.systems.values()):
        notes.append("not stated: say by --optimised [NAME=]METRIC what a decoding optimised")
    return notes
