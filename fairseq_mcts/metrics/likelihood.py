"""The policy's own opinion of a text as a metric, for mixtures with others."""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from fairseq_mcts.metrics.base import FloatArray, Group, Metric
from fairseq_mcts.metrics.registry import register_metric


@register_metric("likelihood")
class Likelihood(Metric):
    """The geometric mean of the probabilities that the policy gives a text's tokens.

    exp(log p / length), eos counted: in (0, 1], and a monotone function of the score that beam
    search ranks by. Texts alone do not have it.
    """

    privileged = False
    reads_likelihood = True
    aggregates = True  # it looks at no other text

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> NoReturn:
        raise ValueError("likelihood: can't be told from a text; only who decodes it knows it")

    def score_likely(
        self, hypotheses: Sequence[str], others: Sequence[str], likelihoods: Sequence[float]
    ) -> list[float]:
        self.check_pairs(hypotheses, others)
        return list(likelihoods)

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        return [
            np.repeat(np.array(group.likelihoods)[:, None], len(group.others), axis=1)
            for group in groups
        ]

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        return [np.array(group.likelihoods) for group in groups]

    def signature(self) -> str:
        return "exp(log p / length) of the policy"
