"""One page about all curves, in Markdown."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.budget_curves import tables
from examples.budget_curves.curves import Curve
from examples.budget_curves.plan import Plan
from examples.budget_curves.scores import Scores

HEAD = """\
# Budget curves: {title}

{sentences} sentences of {subset}. Every way to decode was tuned on {tuning} sentences of {valid}
with a budget of {budget}, by the metric that it searches for. A setting that is tuned for {metric}
must have at most {chrf:g} of chrF less than the best of its grid; beam search is tuned for {metric}
alone. In brackets: p-values by paired bootstrap, of the difference to beam search where nothing
else is said. A budget is about what the paper charges for an output token; `sr-distinct` has as
many samples as are charged like those of `sr`.

{pictures}
"""
GROWTH = "What the greatest budget adds to the best smaller one; p is of that difference."
CHARGE = "p: of the difference to samples with replacement, charged about the same."
PROMISES = (
    "Mean value, as it is read, of what was chosen, less its {metric}: what search overrates."
)
EVALUATIONS = "Network evaluations per output token: charged by the paper's rule / made."


def make_page(
    title: str,
    plan: Plan,
    curves: Sequence[Curve],
    scores: Scores,
    pictures: Mapping[str, Path],
) -> str:
    """All tables; the pictures, by what they show, lie beside the page."""
    first = scores.metrics[0]
    head = HEAD.format(
        title=title,
        sentences=plan.sizes.sentences,
        subset=plan.given.subset,
        tuning=plan.sizes.tuning_sentences,
        valid=plan.given.tuning_subset,
        budget=plan.sizes.tuning_budget,
        metric=first.name,
        chrf=plan.sizes.chrf_given_up,
        pictures="\n\n".join(f"![{name}]({path.name})" for name, path in pictures.items()),
    )
    parts = {
        **{metric.name: tables.by_budget(curves, scores, metric) for metric in scores.metrics},
        "Does it fall?": _with(GROWTH, tables.growth(curves, scores)),
        "Samples with and without replacement": _with(CHARGE, tables.equal_charge(curves, scores)),
        "A mix and its parts": tables.mixes(curves, scores),
        "What values promise": _with(
            PROMISES.format(metric=first.name), tables.promises(curves, scores, first)
        ),
        "Evaluations": _with(EVALUATIONS, tables.evaluations(curves)),
        "Settings": tables.settings(curves),
    }
    signatures = "\n".join(f"- {metric.name}: {metric.signature()}" for metric in scores.metrics)
    sections = [f"## {name}\n\n{text}\n" for name, text in parts.items() if text]
    return "\n".join([head, *sections, f"## Signatures\n\n{signatures}\n"])


def _with(caption: str, table: str) -> str:
    return f"{caption}\n\n{table}" if table else ""
