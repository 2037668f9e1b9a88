"""Scores of all curves by all metrics, and how sure differences are."""

from collections.abc import Sequence

from examples.budget_curves.curves import Curve
from fairseq_mcts.metrics import Metric
from fairseq_mcts.metrics.base import FloatArray
from fairseq_mcts.metrics.bootstrap import PairedResult, paired_bootstrap


class Scores:
    """Computed when they are asked for; what takes an encoder is remembered."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        sources: Sequence[str],
        references: Sequence[str],
        baseline: Curve,
    ) -> None:
        """`baseline` has one budget."""
        self.metrics = tuple(metrics)
        self.baseline = baseline
        self._sources, self._references = sources, references
        self._known: dict[tuple[str, int, str], FloatArray] = {}

    def searched_for(self, curve: Curve) -> Metric:
        """The metric that the way was tuned for."""
        return next(one for one in self.metrics if one.name == curve.way.judge.split(":")[0])

    def score(self, curve: Curve, budget: int, metric: Metric) -> float:
        return metric.aggregate(self._statistics(curve, budget, metric).sum(axis=0))

    def beam(self, metric: Metric) -> float:
        """The score of the baseline."""
        [budget] = self.baseline.trials
        return self.score(self.baseline, budget, metric)

    def against_beam(self, curve: Curve, budget: int, metric: Metric) -> PairedResult:
        """Beside the baseline."""
        [beam] = self.baseline.trials
        return self.against(curve, budget, self.baseline, beam, metric)

    def against(
        self, curve: Curve, budget: int, other: Curve, other_budget: int, metric: Metric
    ) -> PairedResult:
        """Beside any other decoding."""
        own = self._statistics(curve, budget, metric)
        return paired_bootstrap(metric, own, self._statistics(other, other_budget, metric))

    def _statistics(self, curve: Curve, budget: int, metric: Metric) -> FloatArray:
        """[N, K] of the sentences."""
        key = (curve.way.name, budget, metric.name)
        if key not in self._known:
            others = self._references if metric.privileged else self._sources
            self._known[key] = metric.statistics(curve.trials[budget].hypotheses, others)
        return self._known[key]
