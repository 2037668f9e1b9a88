"""Paired bootstrap resampling (Koehn, 2004): is a difference between two systems more than luck?"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairseq_mcts.metrics.base import FloatArray, Metric

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345  # sacrebleu's default: the same seed draws the same resamples


@dataclass(frozen=True)
class PairedResult:
    """A system's corpus score beside a baseline's."""

    score: float
    baseline: float
    # of the null hypothesis that the two do not differ; sacrebleu's, which for a clear difference
    # counts resamples on one side: about half of what a two-sided test would say
    p_value: float
    mean: float  # of the system over the resamples
    interval: float  # half the width of the central 95 % of the resampled scores

    @property
    def difference(self) -> float:
        return self.score - self.baseline


def paired_bootstrap(
    metric: Metric,
    system: FloatArray,  # [N, K] metric.statistics of the system
    baseline: FloatArray,  # [N, K] of the baseline, same sentences
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> PairedResult:
    """Compares two systems on the same resampled test sets.

    Index draw and p-value are those of `sacrebleu --paired-bs`, so that for BLEU and chrF both
    programs report the same number for the same seed; but for systems with equal outputs, where
    sacrebleu counts no tie and so calls a difference of nothing certain (p = 1/(resamples + 1)).
    """
    if system.shape != baseline.shape:
        counts = f"{system.shape[0]} against {baseline.shape[0]}"
        raise ValueError(f"paired bootstrap needs the same sentences: {counts}")
    if resamples < 1:
        raise ValueError(f"the number of resamples must be positive, got {resamples}")
    rng = np.random.default_rng(seed)
    indices = rng.choice(len(system), size=(resamples, len(system)), replace=True)  # [R, N]
    system_scores = _resampled_scores(metric, system, indices)  # [R]
    baseline_scores = _resampled_scores(metric, baseline, indices)  # [R]
    score = metric.aggregate(system.sum(axis=0))
    baseline_score = metric.aggregate(baseline.sum(axis=0))

    differences = np.abs(system_scores - baseline_scores)  # [R]
    centred = differences - differences.mean()  # what luck alone makes of them
    as_large = int(np.sum(centred >= abs(score - baseline_score)))
    tail = resamples // 40  # 2.5 % on each side
    ordered = np.sort(system_scores)
    return PairedResult(
        score=score,
        baseline=baseline_score,
        p_value=(as_large + 1) / (resamples + 1),
        mean=float(system_scores.mean()),
        interval=float(ordered[resamples - tail - 1] - ordered[tail]) / 2,
    )


def _resampled_scores(
    metric: Metric, statistics: FloatArray, indices: npt.NDArray[np.int64]
) -> FloatArray:
    # One resample at a time: all at once would hold R * N * K numbers.
    return np.array([metric.aggregate(statistics[row].sum(axis=0)) for row in indices])
