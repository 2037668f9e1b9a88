"""Several metrics at once: `mix:mlbertscore=0.7,likelihood=0.3`.

A search that goes by one metric finds what this one overlooks; a second opinion of another kind
holds it back.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairseq_mcts.metrics.base import FloatArray, Group, Metric, MetricConfig
from fairseq_mcts.metrics.checks import check_compared, check_scores
from fairseq_mcts.metrics.registry import build_metric, metric_class, register_metric

_COMBINE = "combine"
_NO_PARTS = "mix: names no metrics; write mix:NAME=WEIGHT,NAME=WEIGHT"


@dataclass
class MixConfig(MetricConfig):
    """Options of `mix`: each part with its weight, and options of parts as part.option=value."""

    weights: dict[str, float] = field(default_factory=dict)  # of the parts, by their names
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # of the parts
    combine: str = "sum"  # or min

    @classmethod
    def from_spec(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        weights: dict[str, float] = {}
        options: dict[str, dict[str, str]] = {}
        for key, value in given.items():
            part, dot, option = key.partition(".")
            if dot:
                options.setdefault(part, {})[option] = value
            elif key != _COMBINE:
                metric_class(key)  # refuses unknown names
                weights[key] = _weight(key, value)
        combine = given.get(_COMBINE, "sum")
        return {"weights": weights, "options": options, "combine": combine}


def _weight(part: str, value: Any) -> float:
    try:
        weight = float(value)
    except ValueError:
        raise ValueError(f"mix: {part}={value!r}: expected its weight, a number") from None
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(f"mix: {part}={value}: the weight must be greater than 0")
    return weight


@register_metric("mix", config=MixConfig)
class Mix(Metric):
    """A weighted mean, or the weighted minimum, of other metrics.

    sum: Σ w · score / Σ w. min: the least of w · score, so that no part is given up for another.
    Scores are taken as they are, and those of all metrics here lie in [0, 1]: BLEU and chrF are
    divided by 100, a likelihood is the geometric mean of the tokens' probabilities.
    """

    privileged = False  # unless a part is
    config: MixConfig

    def __init__(self, config: MixConfig) -> None:
        super().__init__(config)
        if not config.weights:
            raise ValueError(_NO_PARTS)
        if config.combine not in ("sum", "min"):
            raise ValueError(f"mix: combine={config.combine!r} must be sum or min")
        for part in config.options.keys() - config.weights.keys():
            raise ValueError(f"mix: options of {part!r} are given, but no weight {part}=…")
        if "mix" in config.weights:
            raise ValueError("mix: can't be a part of itself")
        self.parts = {
            name: build_metric(name, config.options.get(name, {}), with_likelihood=True)
            for name in config.weights
        }
        judging = {name: one for name, one in self.parts.items() if not one.reads_likelihood}
        against = {one.compares_with: name for name, one in judging.items()}
        if len(against) > 1:
            pairs = " and ".join(f"{name} with the {role}" for role, name in against.items())
            raise ValueError(f"mix: all parts must compare with the same text, not {pairs}")
        self.privileged = "reference" in against
        self.reads_likelihood = any(one.reads_likelihood for one in self.parts.values())
        self.reads_source = any(one.reads_source for one in self.parts.values())
        self.aggregates = all(one.aggregates for one in self.parts.values())
        self.range = (
            self._combined([np.array(one.range[0]) for one in self.parts.values()]).item(),
            self._combined([np.array(one.range[1]) for one in self.parts.values()]).item(),
        )

    def _combined(self, scores: Sequence[FloatArray]) -> FloatArray:
        """One array of scores from those of the parts, in their order."""
        weights = list(self.config.weights.values())
        weighted = [weight * one for weight, one in zip(weights, scores, strict=True)]
        if self.config.combine == "min":
            least: FloatArray = np.minimum.reduce(weighted)
            return least
        # divided by the sum, which rounding must not lead out of the range
        total = math.fsum(weights)
        low = min(one.range[0] for one in self.parts.values())
        high = max(one.range[1] for one in self.parts.values())
        return np.clip(sum(weighted) / total, low, high)

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return self._of_texts(lambda part: part.score(hypotheses, others), hypotheses, others)

    def score_likely(
        self, hypotheses: Sequence[str], others: Sequence[str], likelihoods: Sequence[float]
    ) -> list[float]:
        given = (hypotheses, others, likelihoods)
        return self._of_texts(lambda part: part.score_likely(*given), hypotheses, others)

    def _of_texts(
        self, ask: Callable[[Metric], list[float]], hypotheses: Sequence[str], others: Sequence[str]
    ) -> list[float]:
        """Each part is checked: a wrong one may be hidden by the others."""
        scores = []
        for part in self.parts.values():
            of_part = ask(part)
            check_scores(part, of_part, hypotheses, others)
            scores.append(np.array(of_part))
        return self._combined(scores).tolist()

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        return self._of_groups(lambda part: part.pairwise(groups))

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        return self._of_groups(lambda part: part.aggregated(groups))

    def _of_groups(self, ask: Callable[[Metric], list[FloatArray]]) -> list[FloatArray]:
        scores = []
        for part in self.parts.values():
            scores.append(ask(part))
            check_compared(part, scores[-1])
        return [self._combined(of_group) for of_group in zip(*scores, strict=True)]

    @property
    def judge(self) -> str:
        return "+".join(part.judge for part in self.parts.values())

    @property
    def judges(self) -> frozenset[str]:
        return frozenset().union(*(part.judges for part in self.parts.values()))

    @classmethod
    def parts_of(cls, options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        given = MixConfig.from_spec(options)
        if not given["weights"]:
            raise ValueError(_NO_PARTS)
        return {name: given["options"].get(name, {}) for name in given["weights"]}

    def signature(self) -> str:
        parts = [
            f"{weight:g}*{name}({self.parts[name].sentence_signature()})"
            for name, weight in self.config.weights.items()
        ]
        return f"{self.config.combine}:{'+'.join(parts)}"
