"""How good values are: error, correlation and calibration against the true scores."""

import torch
from torch import Tensor

POSITION_BINS = 5  # fifths of a sentence
CALIBRATION_BINS = 10
_KENDALL_BLOCK = 2048


def mean_absolute_error(values: Tensor, scores: Tensor) -> float:
    """Mean absolute error of values [P] against scores [P]."""
    return float((values - scores).abs().mean())


def error_of_the_mean(scores: Tensor) -> float:
    """The error of always saying the mean of scores [P]: what a value must beat."""
    return float((scores - scores.mean()).abs().mean())


def pearson(values: Tensor, scores: Tensor) -> float:
    """Linear correlation of [P] and [P]; 0 where one of them is constant."""
    x, y = values.double() - values.double().mean(), scores.double() - scores.double().mean()
    norm = x.norm() * y.norm()
    return float(x @ y / norm) if norm > 0 else 0.0


def pearson_within(values: Tensor, scores: Tensor, sources: Tensor) -> float:
    """Linear correlation of [P] and [P] among samples of the same source [P]: what a search has to
    tell apart. 0 if no two of them differ."""
    _, group, counts = torch.unique(sources, return_inverse=True, return_counts=True)

    def less_the_mean_of_its_source(column: Tensor) -> Tensor:
        sums = column.new_zeros(len(counts)).index_add_(0, group, column)
        return column - (sums / counts)[group]

    return pearson(*(less_the_mean_of_its_source(one.double()) for one in (values, scores)))


def has_differing_samples(scores: Tensor, sources: Tensor) -> bool:
    """Whether any source [P] stands there with two scores [P]."""
    pairs = torch.stack([sources, scores], dim=1)
    return len(torch.unique(sources)) < len(torch.unique(pairs, dim=0))


def gain_of_the_best(keys: Tensor, scores: Tensor, sources: Tensor) -> float:
    """What the sample with the greatest key [P] of each source [P] scores [P] above the mean of
    its source's samples: best of n by a value, by likelihood or by the score itself."""
    best = best_of_sources(keys, sources)
    return float(scores[best].mean() - mean_of_sources(scores, sources).mean())


def best_of_sources(keys: Tensor, sources: Tensor) -> Tensor:
    """[G]: of each source the place in [P] of its greatest key, the first of equal ones."""
    order = keys.argsort(descending=True, stable=True)
    order = order[sources[order].argsort(stable=True)]  # by source, then by key
    is_first = torch.ones_like(order, dtype=torch.bool)
    is_first[1:] = sources[order][1:] != sources[order][:-1]
    return order[is_first]


def mean_of_sources(column: Tensor, sources: Tensor) -> Tensor:
    """[G]: the mean of a column [P] over each source's samples, sources ascending."""
    _, group, counts = torch.unique(sources, return_inverse=True, return_counts=True)
    return column.new_zeros(len(counts)).index_add_(0, group, column) / counts


def kendall(values: Tensor, scores: Tensor) -> float:
    """Rank correlation τ-b of [P] and [P], block by block to bound memory; 0 if one is constant."""
    concordant = untied_values = untied_scores = 0.0
    for begin in range(0, len(values), _KENDALL_BLOCK):
        block = slice(begin, begin + _KENDALL_BLOCK)
        by_value = torch.sign(values[block, None] - values[None, :])  # [b, P]
        by_score = torch.sign(scores[block, None] - scores[None, :])
        concordant += float((by_value * by_score).sum())
        untied_values += float(by_value.abs().sum())
        untied_scores += float(by_score.abs().sum())
    norm = (untied_values * untied_scores) ** 0.5
    return concordant / norm if norm > 0 else 0.0


def calibration_error(values: Tensor, scores: Tensor, bins: int = CALIBRATION_BINS) -> float:
    """Expected calibration error: |mean value − mean score| in bins of equal count, averaged."""
    order = values.argsort()
    errors = [
        abs(float(values[part].mean() - scores[part].mean())) * len(part)
        for part in torch.tensor_split(order, bins)
        if len(part)
    ]
    return sum(errors) / len(values)


def error_by_position(values: Tensor, scores: Tensor, relative: Tensor) -> list[float]:
    """Mean absolute error of values [P] against scores [P] in each fifth of the sentences, by
    position / length [P] in [0, 1); NaN where there is no position."""
    bins = (relative * POSITION_BINS).long().clamp(0, POSITION_BINS - 1)
    errors = (values - scores).abs()
    return [float(errors[bins == one].mean()) for one in range(POSITION_BINS)]
