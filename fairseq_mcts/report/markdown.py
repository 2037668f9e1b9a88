"""A report as Markdown, for papers and issues."""

import re
from collections.abc import Iterable, Sequence

from tabulate import tabulate

from fairseq_mcts.report.report import CorpusScore, MetricColumn, Report, ReportedRun

_EXAMPLES = 3
_MARK = "†"


def as_markdown(report: Report) -> str:
    """All tables of a report, and the sentences that changed most."""
    parts = [f"# {_text(report.title)}", _head(report), "## Quality and cost", _scores(report)]
    parts += ["## What was given up", _watch(report)]
    if any(report.value_gap(run, 0) is not None for run in report.runs):
        parts += ["## Value against true score", _values(report)]
    parts += _examples(report)
    parts += ["## Signatures", _signatures(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: Report) -> str:
    baseline = report.runs[report.baseline].name
    lines = [f"{report.num_sentences} sentences; baseline: {_text(baseline)}."]
    if report.resamples:
        lines.append(
            f"p: paired bootstrap against it, {report.resamples} resamples, seed {report.seed}."
        )
    if any(score.is_optimised for run in report.runs for score in run.corpus):
        lines.append(
            f"{_MARK} the decoding optimised this metric, or one by the same judge: judge it by "
            "the other columns."
        )
    lines.append(
        "charged and made: network evaluations for an output token, by the paper's accounting and "
        "as needed."
    )
    if any(run.generated.counts_are_estimates for run in report.runs):
        lines.append("≈: the beam size, where nobody counted.")
    return " ".join(lines)


def _scores(report: Report) -> str:
    header = ["run", *(metric.name for metric in report.metrics), "charged/token", "made/token"]
    rows = [
        [
            _text(run.name),
            *map(_score, report.metrics, run.corpus),
            "≈" * run.generated.counts_are_estimates + _number(run.charged_per_token, ".1f"),
            _number(run.made_per_token, ".1f"),
        ]
        for run in report.runs
    ]
    return _table(header, rows)


def _score(metric: MetricColumn, score: CorpusScore) -> str:
    text = f"{score.score * metric.factor:.{metric.digits}f}" + _MARK * score.is_optimised
    if score.difference is None or score.p_value is None:
        return text
    p_value = "p<0.001" if score.p_value < 0.001 else f"p={score.p_value:.3f}"
    return f"{text} ({score.difference * metric.factor:+.{metric.digits}f}, {p_value})"


def _watch(report: Report) -> str:
    header = ["run", "length ratio", "likelihood", "copied words", "numbers lost", "names lost"]
    rows = []
    for run, losses in zip(report.runs, report.losses, strict=True):
        counts = [
            sum(bool(getattr(one, kind)) for one in losses)
            for kind in ("copied", "numbers", "names")
        ]
        ratio = report.length_ratio(run)
        rows.append(
            [_text(run.name), _number(ratio, ".3f"), _number(run.likelihood, ".3f"), *counts]
        )
    note = "Likelihood: geometric mean of the tokens' probabilities. Counts are of sentences."
    return f"{_table(header, rows)}\n\n{note}"


def _values(report: Report) -> str:
    header = ["run", "metric", "value", "score", "gap", "correlation"]
    rows = []
    for run in report.runs:
        metric = report.judged_by(run)
        gap = report.value_gap(run, metric)
        if gap is not None:
            numbers = [f"{gap.value:.4f}", f"{gap.score:.4f}", f"{gap.gap:+.4f}"]
            correlation = _number(gap.correlation, ".3f")
            rows.append([_text(run.name), report.metrics[metric].name, *numbers, correlation])
    return _table(header, rows)


def _examples(report: Report) -> list[str]:
    """For each run, the sentences that it made better and worse than the baseline."""
    parts: list[str] = []
    baseline = report.runs[report.baseline]
    for run in report.runs:
        if run is baseline:
            continue
        metric = report.judged_by(run)
        scores = zip(run.sentences[metric], baseline.sentences[metric], strict=True)
        changes = sorted((mine - theirs, number) for number, (mine, theirs) in enumerate(scores))
        worse = [item for item in changes[:_EXAMPLES] if item[0] < 0]
        better = [item for item in reversed(changes[-_EXAMPLES:]) if item[0] > 0]
        name = report.metrics[metric].name
        parts.append(f"## Sentences of {_text(run.name)} that changed most by {name}")
        parts += [_example(report, run, *item, report.metrics[metric]) for item in better + worse]
    return parts


def _example(
    report: Report, run: ReportedRun, change: float, number: int, metric: MetricColumn
) -> str:
    lines = [f"- **sentence {number}**, {change * metric.factor:+.{metric.digits}f}"]
    texts: list[tuple[str, Sequence[str] | None]] = [
        ("source", report.sources),
        ("reference", report.references),
        (report.runs[report.baseline].name, report.runs[report.baseline].hypotheses),
        (run.name, run.hypotheses),
    ]
    lines += [f"  - {_text(role)}: {_text(side[number])}" for role, side in texts if side]
    return "\n".join(lines)


def _signatures(report: Report) -> str:
    return "\n".join(f"- {metric.name}: `{metric.signature}`" for metric in report.metrics)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return tabulate(rows, header, tablefmt="github", disable_numparse=True)


def _number(number: float | None, form: str) -> str:
    return "–" if number is None else f"{number:{form}}"


def _text(text: str) -> str:
    """Text that stays text: what Markdown or HTML would read as markup is escaped."""
    plain = re.sub(r"([\\`*_{}\[\]()#|~])", r"\\\1", text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
