"""The loop that every search runs in: advance all sentences, then answer what they wait for."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from fairseq_mcts.search.evaluator import Answers, Evaluator, Question, Requests
from fairseq_mcts.search.results import Hypothesis, Timing
from fairseq_mcts.search.tree import Float64, Tree

# a finished sentence to be scored: (sentence, tokens)
Candidate = tuple[int, tuple[int, ...]]
# (sentence, tokens) -> float, or with an attribute `batched = True` the same over lists of both
Metric = Callable[..., Any]


class Search(Protocol):
    """A decoding algorithm at work on a set of sentences.

    Sentences don't wait for one another: `advance` runs each as far as it can go on what is
    known, so every call of the evaluator holds the requests of all sentences that need one.
    """

    tree: Tree
    question: Question  # about the requests of the last `advance`

    @property
    def num_bytes(self) -> int:
        """Memory of the arrays that grow with the number of prefixes."""
        ...

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        """What the sentences now wait for; nothing at all when all of them are finished."""
        ...

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        """Takes what the evaluator says of the requests of the last `advance`."""
        ...

    def receive_scores(self, scores: Float64) -> None:
        """Takes the metric of the candidates of the last `advance`, in their order."""
        ...

    def results(self) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first, after the end."""
        ...


class Scorer:
    """A metric with a memory: no sentence is scored twice, and every score is checked."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._known: dict[Candidate, float] = {}

    def __call__(self, candidates: Sequence[Candidate]) -> Float64:
        new = list(dict.fromkeys(one for one in candidates if one not in self._known))
        for candidate, score in zip(new, self._scores(new), strict=True):
            if not np.isfinite(score):
                raise ValueError(
                    f"metric returned {score} for sentence {candidate[0]}, tokens {candidate[1]}"
                )
            self._known[candidate] = score
        return np.array([self._known[candidate] for candidate in candidates], np.float64)

    def _scores(self, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        if not getattr(self._metric, "batched", False):
            return [float(self._metric(sentence, tokens)) for sentence, tokens in candidates]
        sentences, tokens = map(list, zip(*candidates, strict=True))
        scores = [float(score) for score in self._metric(sentences, tokens)]
        if len(scores) != len(candidates):
            raise ValueError(f"metric returned {len(scores)} scores for {len(candidates)} texts")
        return scores


def drive(search: Search, evaluator: Evaluator, scorer: Scorer | None = None) -> Timing:
    """Drives `search` to its end; where the time went."""
    timing = Timing()
    while True:
        begun = time.perf_counter()
        requests, candidates = search.advance()
        advanced = time.perf_counter()
        timing.search += advanced - begun
        if len(requests):
            answers = evaluator.evaluate(search.tree, requests, search.question)
            answered = time.perf_counter()
            search.receive_answers(requests, answers)
            timing.network += answered - advanced
            timing.search += time.perf_counter() - answered
            if not search.question.policy_only:
                timing.network_calls += 1
                timing.network_rows += len(requests)
        if candidates:
            assert scorer is not None  # a decoder that needs one is not started without
            begun = time.perf_counter()
            search.receive_scores(scorer(candidates))
            timing.metric += time.perf_counter() - begun
            timing.metric_calls += 1
            timing.metric_rows += len(candidates)
        if not len(requests) and not candidates:
            return timing
