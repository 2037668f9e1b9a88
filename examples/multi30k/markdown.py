"""Scores in the tables of the study."""

from examples.common.markdown import NOTHING, number, p_value
from examples.multi30k.scores import Score


def with_p_value(score: Score | None) -> str:
    """A score and, in brackets, the p-value of its difference to beam search."""
    if score is None:
        return NOTHING
    if score.p_value is None:
        return number(score.percent)
    return f"{score.percent:.2f} ({p_value(score.p_value)})"
