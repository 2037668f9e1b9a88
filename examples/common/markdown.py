"""Tables in Markdown, and figures in them."""

from collections.abc import Sequence

from tabulate import tabulate

NOTHING = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is aligned left, the others right."""
    alignment = ("left", *["right"] * (len(header) - 1))
    return tabulate(rows, header, tablefmt="pipe", colalign=alignment, disable_numparse=True)


def number(value: float | None, digits: int = 2) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """Without the zero in front."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
