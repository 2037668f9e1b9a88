"""The range of a value head's buckets: what the user says, or that of the metric, or of the scores.

The metric's own range, where it has bounds: later rounds of data hold scores that earlier ones did
not reach.
"""

import logging
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fairseq_mcts.data.scored_folder import (
    ScoredDataError,
    SplitNames,
    open_scored_split,
    score_range,
)

logger = logging.getLogger(__name__)

# around scores that are all the same, so that there is a range at all
_MARGIN = 0.01
_ROUNDING = 1e-6  # the range is kept in float32
# A checkpoint's buckets may fall short of new scores by so much of their range: the outermost
# buckets take these.
_TOLERANCE = 0.1


class ScoreRange(NamedTuple):
    """What is known of the training scores."""

    least: float  # that there is
    greatest: float
    low: float = -math.inf  # that the metric can give
    high: float = math.inf


def known_range(splits: Sequence[SplitNames]) -> ScoreRange | None:
    """The range of all splits that have scores; None if none of them has any."""
    opened = [open_scored_split(names) for names in splits if names.has_scores()]
    if not opened:
        return None
    low, high = zip(*(score_range(split.record) for split in opened), strict=True)
    return ScoreRange(
        float(min(split.scores.min() for split in opened)),
        float(max(split.scores.max() for split in opened)),
        min(low),
        max(high),
    )


def refuse_narrow_range(head: Any, known: ScoreRange | None) -> None:
    """Refuses scores far beyond the buckets that came with a checkpoint."""
    if known is None:
        return
    beyond = max(head.low - known.least, known.greatest - head.high)
    if beyond <= _ROUNDING:
        return
    told = (
        f"the checkpoint's value head covers {head.low} to {head.high}, but the training scores go "
        f"from {known.least} to {known.greatest}"
    )
    if beyond > _TOLERANCE * (head.high - head.low):
        raise ScoredDataError(
            f"{told}: start from a checkpoint without a value head, or from one with a wider range"
        )
    logger.warning(f"{told}: what lies beyond counts as the outermost of these")


def set_value_range(
    head: Any, low: float | None, high: float | None, known: ScoreRange | None
) -> None:
    """Spreads the buckets of `head` over [low, high]; where unset, over all that scores can be."""
    if known is None:
        return  # no scores here, for example in training by plain cross-entropy
    if low is not None and known.least < low:
        raise ScoredDataError(f"--value-min {low}: the training scores go down to {known.least}")
    if high is not None and known.greatest > high:
        raise ScoredDataError(f"--value-max {high}: the training scores go up to {known.greatest}")
    least = known.low if math.isfinite(known.low) else known.least
    greatest = known.high if math.isfinite(known.high) else known.greatest
    if greatest - least < _MARGIN:
        least, greatest = least - _MARGIN, greatest + _MARGIN
    head.set_range(least if low is None else low, greatest if high is None else high)
