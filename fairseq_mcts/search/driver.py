"""The loop that every search runs in: advance all sentences, then answer what they wait for."""

import time
from collections.abc import Sequence
from typing import Protocol

from fairseq_mcts.search.evaluator import Answers, Evaluator, Question, Requests
from fairseq_mcts.search.results import Hypothesis, Timing
from fairseq_mcts.search.scorer import Candidate, Scorer
from fairseq_mcts.search.tree import Float64, Tree


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

    def finished_so_far(self, sentence: int) -> list[Hypothesis]:
        """Finished sentences that are remembered before the end, in no order."""
        ...


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
            search.receive_scores(scorer(candidates))
        if not len(requests) and not candidates:
            if scorer is not None:
                scorer.write_timing(timing)
            return timing
