"""What decoders ask of a run's metric: scores of finished sentences, and of pairs of them."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.search.faults import FaultySentenceError
from fairseq_mcts.search.results import Hypothesis, Timing
from fairseq_mcts.search.tree import Float64

Tokens = tuple[int, ...]

# Of a decoder that scores sentences: (sentence, tokens) -> float, and with an attribute
# `reads_logprob = True` (sentence, tokens, logprob) -> float; with `batched = True` the same over
# lists of each.
# Of a decoder that compares sentences: (sentence, hypothesis, reference) -> float; or with
# `batched = True` a function of a list of comparisons, which returns an array [H, R] for each. Its
# attribute `aggregated`, if it has one, is a function of such a list too, and returns an array [H]
# for each: scores against one reference that is made of all of them.
Metric = Callable[..., Any]


class Candidate(NamedTuple):
    """A finished sentence to be scored."""

    sentence: int
    tokens: Tokens
    logprob: float  # the model's own, of all tokens

    @staticmethod
    def of(sentence: int, hypothesis: Hypothesis) -> "Candidate":
        """A hypothesis of a sentence."""
        return Candidate(sentence, hypothesis.tokens, hypothesis.logprob)


class Comparison(NamedTuple):
    """Hypotheses of one sentence, each to be compared with all references."""

    hypotheses: Sequence[Candidate]  # [H]
    references: Sequence[Candidate]  # [R] the model's own, too
    weights: Float64  # [R] of the references, where they are aggregated; their sum is 1


class Scorer:
    """A metric with a memory: no sentence is scored twice, and every score is checked."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._known: dict[tuple[int, Tokens], float] = {}
        self.seconds = 0.0  # spent in the metric
        self.calls = 0
        self.rows = 0  # texts, or pairs of texts, that were asked for

    def __call__(self, candidates: Sequence[Candidate]) -> Float64:
        """[n] the metric of each candidate."""
        begun = time.perf_counter()
        new = {one[:2]: one for one in candidates if one[:2] not in self._known}
        reasons: dict[int, str] = {}
        for (sentence, tokens), score in zip(new, self._scores([*new.values()]), strict=True):
            if np.isfinite(score):
                self._known[sentence, tokens] = score
            else:
                fault = f"metric returned {score} for sentence {sentence}, tokens {tokens}"
                reasons.setdefault(sentence, fault)
        if reasons:
            raise FaultySentenceError(reasons, next(iter(reasons.values())))
        self._count(begun, len(candidates))
        return np.array([self._known[one[:2]] for one in candidates], np.float64)

    def known(self, sentence: int, tokens: Tokens) -> float | None:
        """The score of a finished sentence, if it was asked for."""
        return self._known.get((sentence, tokens))

    def compare(self, comparisons: Sequence[Comparison]) -> list[Float64]:
        """For each comparison [H, R] the metric of every hypothesis against every reference."""
        begun = time.perf_counter()
        if getattr(self._metric, "batched", False):
            found = [np.asarray(one, np.float64) for one in self._metric(comparisons)]
        else:
            found = [self._pairs(one) for one in comparisons]
        shapes = [(len(one.hypotheses), len(one.references)) for one in comparisons]
        _check_compared(found, shapes, comparisons)
        self._count(begun, sum(rows * columns for rows, columns in shapes))
        return found

    def compare_aggregated(self, comparisons: Sequence[Comparison]) -> list[Float64]:
        """For each comparison [H] the metric against its references as one."""
        begun = time.perf_counter()
        aggregated: Callable[[Sequence[Comparison]], Any] = self._metric.aggregated  # type: ignore[attr-defined]
        found = [np.asarray(one, np.float64) for one in aggregated(comparisons)]
        shapes = [(len(one.hypotheses),) for one in comparisons]
        _check_compared(found, shapes, comparisons)
        self._count(begun, sum(rows for (rows,) in shapes))
        return found

    def write_timing(self, timing: Timing) -> None:
        """Puts down what the metric has taken so far."""
        timing.metric, timing.metric_calls = self.seconds, self.calls
        timing.metric_rows = self.rows

    def _count(self, begun: float, rows: int) -> None:
        self.seconds += time.perf_counter() - begun
        self.calls += 1
        self.rows += rows

    def _scores(self, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        fields = 3 if getattr(self._metric, "reads_logprob", False) else 2
        if not getattr(self._metric, "batched", False):
            return [float(self._metric(*candidate[:fields])) for candidate in candidates]
        columns = [list(column) for column in zip(*candidates, strict=True)]
        scores = [float(score) for score in self._metric(*columns[:fields])]
        if len(scores) != len(candidates):
            raise ValueError(f"metric returned {len(scores)} scores for {len(candidates)} texts")
        return scores

    def _pairs(self, one: Comparison) -> Float64:
        return np.array(
            [
                [float(self._metric(*hypothesis[:2], other.tokens)) for other in one.references]
                for hypothesis in one.hypotheses
            ],
            np.float64,
        )


def _check_compared(
    found: list[Float64], shapes: Sequence[tuple[int, ...]], comparisons: Sequence[Comparison]
) -> None:
    got = [scores.shape for scores in found]
    if got != list(shapes):
        raise ValueError(f"metric returned scores of shapes {got} for {list(shapes)} texts")
    reason = "metric returned a score that is no number for a pair of sentences"
    reasons = {
        comparison.hypotheses[0].sentence: reason
        for scores, comparison in zip(found, comparisons, strict=True)
        if not np.isfinite(scores).all()
    }
    if reasons:
        raise FaultySentenceError(reasons, reason)
