"""What every metric is: a score of a text against another text, higher is better."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass
class MetricConfig:
    """Options of a metric; a metric with options of its own derives from this class."""


class Metric(ABC):
    """A metric compares each hypothesis with one other text.

    The other text is the reference if the metric is `privileged`, the source if it is not. Only
    unprivileged metrics may steer a search: no reference exists when a sentence is decoded.

    A metric of one's own sets `privileged` and writes `score` and `signature`; if a corpus is
    judged by anything but the mean of its sentences, also `statistics` and `aggregate`.
    """

    name: ClassVar[str]  # set by @register_metric
    privileged: ClassVar[bool]
    report_factor: ClassVar[float] = 1.0  # customary scale of printed scores: 100 for BLEU
    report_digits: ClassVar[int] = 4
    range: tuple[float, float] = (0.0, 1.0)  # no score lies outside

    def __init__(self, config: MetricConfig) -> None:
        self.config = config

    @abstractmethod
    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        """One score per pair, in `range`; pairs do not influence one another."""

    @abstractmethod
    def signature(self) -> str:
        """Everything needed to compute the same numbers again."""

    def sentence_signature(self) -> str:
        """The same for the numbers of `score`, where those of a corpus are computed otherwise."""
        return self.signature()

    @property
    def judge(self) -> str:
        """What the verdict rests on; metrics with the same judge are no independent opinions."""
        return self.name

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        """Per-sentence numbers whose sum over a corpus gives its score: [N, K]."""
        scores = np.asarray(self.score(hypotheses, others), dtype=np.float64)  # [N]
        return np.stack([scores, np.ones_like(scores)], axis=1)

    def aggregate(self, totals: FloatArray) -> float:
        """The score of a corpus from the sum [K] of its sentences' statistics."""
        return float(totals[0] / totals[1])

    def corpus_score(self, hypotheses: Sequence[str], others: Sequence[str]) -> float:
        """The score of the whole corpus, on the same scale as `score`."""
        if not hypotheses:
            raise ValueError(f"{self.name}: an empty corpus has no score")
        return self.aggregate(self.statistics(hypotheses, others).sum(axis=0))

    def format(self, score: float) -> str:
        """A score as papers print it."""
        return f"{score * self.report_factor:.{self.report_digits}f}"

    @property
    def compares_with(self) -> str:
        """The role of the other text, for messages."""
        return "reference" if self.privileged else "source"

    def check_pairs(self, hypotheses: Sequence[str], others: Sequence[str]) -> None:
        """Refuses what cannot be paired; a single string would silently be read as characters."""
        if isinstance(hypotheses, str) or isinstance(others, str):
            raise TypeError(f"{self.name}: expected two sequences of texts, got a single text")
        if len(hypotheses) != len(others):
            raise ValueError(
                f"{self.name}: {len(hypotheses)} hypotheses but {len(others)} {self.compares_with}s"
            )
