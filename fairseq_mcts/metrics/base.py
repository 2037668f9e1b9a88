"""What every metric is: a score of a text against another text, higher is better."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from fairseq_mcts.metrics.checks import check_count, check_scores

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass
class MetricConfig:
    """Options of a metric; a metric with options of its own derives from this class."""

    @classmethod
    def from_spec(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fields from the options of a spec, where these are not the fields themselves."""
        return dict(given)


class SourcedReference(str):
    """A reference that knows its source, for metrics that read both."""

    source: str

    @staticmethod
    def source_of(metric: str, reference: str) -> str:
        """The source; refuses a reference that came without one."""
        if not isinstance(reference, SourcedReference):
            raise ValueError(f"{metric}: reads sources beside references, and got none")
        return reference.source


def with_sources(references: Iterable[str], sources: Iterable[str]) -> list[str]:
    """References that know their sources."""
    known: list[str] = []
    for reference, source in zip(references, sources, strict=True):
        one = SourcedReference(reference)
        one.source = source
        known.append(one)
    return known


class Group(NamedTuple):
    """Hypotheses of one sentence, each to be compared with each of several texts."""

    hypotheses: Sequence[str]  # [H]
    others: Sequence[str]  # [R]
    likelihoods: Sequence[float]  # [H] of the hypotheses, see `Metric.reads_likelihood`
    weights: FloatArray  # [R] of the others, where they are aggregated; their sum is 1


class PairMatches(NamedTuple):
    """How well each of P pieces of a text matches each of Q pieces of another.

    Spans are a piece's first character in its text, and the one behind its last.
    """

    similarities: FloatArray  # [P, Q] in [-1, 1]
    hypothesis_spans: IntArray  # [P, 2]
    other_spans: IntArray  # [Q, 2]


class Metric(ABC):
    """A metric compares each hypothesis with one other text.

    The other text is the reference if the metric is `privileged`, the source if it is not. Only
    unprivileged metrics may steer a search: no reference exists when a sentence is decoded.

    A metric of one's own sets `privileged` and writes `score` and `signature`; if a corpus is
    judged by anything but the mean of its sentences, also `statistics` and `aggregate`.
    """

    name: ClassVar[str]  # set by @register_metric
    privileged: bool
    report_factor: ClassVar[float] = 1.0  # customary scale of printed scores: 100 for BLEU
    report_digits: ClassVar[int] = 4
    range: tuple[float, float] = (0.0, 1.0)  # no score lies outside
    #: whether scores depend on the likelihood of a hypothesis, the geometric mean of its tokens'
    #: probabilities by the policy. Only who has just decoded knows it, and asks `score_likely`
    reads_likelihood: bool = False
    #: whether a privileged metric also reads sources: its others then come `with_sources`
    reads_source: bool = False
    #: whether it can compare with the mean of several texts (`aggregated`)
    aggregates: bool = False
    #: whether `statistics` of a sentence depend on the other sentences of the corpus
    needs_whole_corpus: bool = False
    #: whether it can say which parts of a text the other one matches (`token_matches`)
    matches_tokens: bool = False

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

    @property
    def judges(self) -> frozenset[str]:
        """Its own judge; of a metric that is made of others, those of all."""
        return frozenset({self.judge})

    @classmethod
    def judge_of(cls, options: Mapping[str, Any]) -> str | None:
        """The judge of a metric with these options of a spec; None: they do not say."""
        return None

    @classmethod
    def parts_of(cls, options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The metrics that one with these options is made of, by name, with their options."""
        return {cls.name: dict(options)}

    def score_likely(
        self, hypotheses: Sequence[str], others: Sequence[str], likelihoods: Sequence[float]
    ) -> list[float]:
        """`score`, of hypotheses whose likelihoods are known."""
        return self.score(hypotheses, others)

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        """For each group [H, R] the score of every hypothesis against every other text.

        A metric that gets at all pairs faster than one by one overrides this.
        """
        pairs = [
            (hypothesis, other, likelihood)
            for group in groups
            for hypothesis, likelihood in zip(group.hypotheses, group.likelihoods, strict=True)
            for other in group.others
        ]
        scores = self.score_likely(*(list(column) for column in zip(*pairs, strict=True)))
        check_count(self, scores, pairs)
        shapes = [(len(group.hypotheses), len(group.others)) for group in groups]
        left = iter(scores)
        return [
            np.fromiter(left, np.float64, rows * columns).reshape(rows, columns)
            for rows, columns in shapes
        ]

    def aggregated(self, groups: Sequence[Group]) -> list[FloatArray]:
        """For each group [H] the score of every hypothesis against the others' weighted mean."""
        raise ValueError(f"{self.name}: can't compare with the mean of several texts")

    def token_matches(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[PairMatches]:
        """How well each piece of either text matches each of the other, for each pair.

        What scores are made of, before weights and rescaling. Characters outside of all pieces are
        not judged; a pair of which a text is empty has no pieces.
        """
        raise ValueError(f"{self.name}: can't say which tokens match")

    def expect_matches(self) -> None:  # noqa: B027 (most have nothing to prepare)
        """Tells that `token_matches` of pairs that are scored from now on will be asked for."""

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        """Per-sentence numbers whose sum over a corpus gives its score: [N, K]."""
        found = self.score(hypotheses, others)
        check_scores(self, found, hypotheses, others)
        scores = np.asarray(found, dtype=np.float64)  # [N]
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
