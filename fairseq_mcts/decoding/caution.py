"""How a search reads values: `--value-read mean`, or `lower:κ`, κ standard deviations below it.

A value head gives a distribution over scores. A search that goes for the greatest of many means
goes for those that err upwards; where the head is unsure, a cautious reading promises less.

Several value networks are read as one whose distribution is the mixture of theirs: its variance is
the mean of their variances plus the variance of their means, so what they disagree about counts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fairseq_mcts.models.value_head import expected_value


class Moments(NamedTuple):
    """What is read of the distributions of n values."""

    mean: Tensor  # float32 [n]
    variance: Tensor | None  # float32 [n]; None if nobody wants it


def parse_value_read(text: str) -> float:
    """κ of `lower:κ`, 0 of `mean`."""
    kind, colon, number = text.partition(":")
    if text == "mean":
        return 0.0
    if kind == "lower" and colon:
        try:
            caution = float(number)
        except ValueError:
            caution = math.nan
        if math.isfinite(caution) and caution >= 0:
            return caution
    raise ValueError(f"--value-read {text}: must be mean or lower:κ with a number κ ≥ 0")


def bucket_moments(
    logits: Tensor,  # [n, K]
    means: Tensor,  # [K] of the buckets
    *,
    with_variance: bool,
) -> Moments:
    """Of the buckets' means under the softmax of the logits, in float32 always."""
    mean = expected_value(logits, means)
    return Moments(mean, bucket_variance(logits, means, mean) if with_variance else None)


def bucket_variance(logits: Tensor, means: Tensor, centre: Tensor) -> Tensor:
    """[n] the mean square of what the buckets' means [K] are away from `centre` [n]."""
    away = means - centre.unsqueeze(-1)
    return (torch.softmax(logits, dim=-1, dtype=torch.float32) * away * away).sum(dim=-1)


def read_values(members: Sequence[Moments], caution: float) -> Tensor:
    """float32 [n]: the mean of the members' mixture, less `caution` standard deviations of it."""
    if len(members) == 1 and caution == 0:
        return members[0].mean
    mean = _mean(members)
    return mean if caution == 0 else mean - caution * read_deviations(members)


def read_deviations(members: Sequence[Moments]) -> Tensor:
    """float32 [n]: the standard deviations of the members' mixture."""
    variances = [one.variance for one in members if one.variance is not None]
    away = torch.stack([one.mean for one in members]) - _mean(members)  # [M, n]
    return (torch.stack(variances) + away * away).mean(dim=0).sqrt()


def _mean(members: Sequence[Moments]) -> Tensor:
    return torch.stack([one.mean for one in members]).mean(dim=0)
