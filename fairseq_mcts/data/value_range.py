"""The range of a value head's buckets: what the user says, or what the training scores span."""

from collections.abc import Sequence
from typing import Any

from fairseq_mcts.data.scored_folder import ScoredDataError, SplitNames, open_scored_split

# around scores that are all the same, so that there is a range at all
_MARGIN = 0.01
_ROUNDING = 1e-6  # the range is kept in float32


def observed_range(splits: Sequence[SplitNames]) -> tuple[float, float] | None:
    """Least and greatest score of the splits; None if none of them has scores."""
    scores = [open_scored_split(names).scores for names in splits if names.has_scores()]
    if not scores:
        return None
    return float(min(one.min() for one in scores)), float(max(one.max() for one in scores))


def refuse_narrow_range(head: Any, observed: tuple[float, float] | None) -> None:
    """Refuses scores that buckets which came with a checkpoint do not reach."""
    if observed is None:
        return
    least, greatest = observed
    if least < head.low - _ROUNDING or greatest > head.high + _ROUNDING:
        raise ScoredDataError(
            f"the checkpoint's value head covers {head.low} to {head.high}, but the training "
            f"scores go from {least} to {greatest}: start from a checkpoint without a value head, "
            "or from one with a wider range"
        )


def set_value_range(
    head: Any, low: float | None, high: float | None, observed: tuple[float, float] | None
) -> None:
    """Spreads the buckets of `head` over [low, high], or over what was observed where unset."""
    if observed is None:
        return  # no scores here, for example in training by plain cross-entropy
    least, greatest = observed
    if low is not None and least < low:
        raise ScoredDataError(f"--value-min {low}: the training scores go down to {least}")
    if high is not None and greatest > high:
        raise ScoredDataError(f"--value-max {high}: the training scores go up to {greatest}")
    if greatest - least < _MARGIN:
        least, greatest = least - _MARGIN, greatest + _MARGIN
    head.set_range(least if low is None else low, greatest if high is None else high)
