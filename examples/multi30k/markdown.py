"""Tables in Markdown."""

from collections.abc import Sequence

from examples.multi30k.scores import Score

NOTHING = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """First column left, the others right aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "| " + " | ".join(map(_aligned, row, widths, range(len(widths)))) + " |"
        for row in [header, *rows]
    ]
    rule = "|" + "|".join(
        "-" * (width + 2) if column == 0 else "-" * (width + 1) + ":"
        for column, width in enumerate(widths)
    )
    return "\n".join([lines[0], rule + "|", *lines[1:]])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


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
