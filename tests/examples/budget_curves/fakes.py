"""Curves that nobody has decoded."""

from collections.abc import Mapping, Sequence

from examples.budget_curves.curves import Curve
from examples.budget_curves.ways import make_ways
from fairseq_mcts.tuning.results import Trial

WAYS = {way.name: way for way in make_ways("chrf", "bleu")}


def trial(
    hypotheses: Sequence[str], charged: float = 50.0, made: float = 10.0, value: float | None = None
) -> Trial:
    """With evaluations per token of ten tokens."""
    counts = (10, round(10 * charged), round(10 * made))
    return Trial([], {}, {}, list(hypotheses), *counts, 1.0, value)


def curve(way: str, trials: Mapping[int, Trial], factor: int = 1) -> Curve:
    """With `factor` samples for each unit of a budget."""
    numbers = {budget: factor * budget for budget in trials}
    return Curve(WAYS[way], ("--mcts-c-puct", "2"), dict(trials), numbers)
