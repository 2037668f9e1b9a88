"""Tables in Markdown."""

from collections.abc import Sequence

from tabulate import tabulate

from examples.multi30k.scores import Score

NOTHING = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is aligned left, the others right."""
    alignment = ("left", *["right"] * (len(header) - 1))
    return tabulate(rows, header, tablefmt="pipe", colalign=alignment, disable_numparse=True)


def number(value: float | None, digits: int = 2) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def with_p_value(score: Score | None) -> str:
    """A score and, in brackets, the p-value of its difference to beam search."""
    if score is None:
        return NOTHING
    if score.p_value is None:
        return number(score.percent)
    p = "<.001" if score.p_value < 0.001 else f"{score.p_value:.3f}".removeprefix("0")
    return f"{score.percent:.2f} ({p})"
