"""V-MCTS reads a leaf's policy when a later simulation comes through, and no other policy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.tree import Tree, prefix_tokens
from tests.search.compare import by_sentence_id
from tests.search.toy_models import Prefix, ToyMetric, ToyProblem, random_problem, toy_problems
from tests.search.watching import scorer_of, search_on

some_models = settings(max_examples=40, deadline=None, derandomize=True, database=None)

Named = tuple[int, Prefix]  # (sentence, prefix)


class Listener:
    """An evaluator that notes what is asked, by the kind of question."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator
        self.evaluated: Counter[Named] = Counter()
        self.read: Counter[Named] = Counter()

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        prefixes = prefix_tokens(tree, requests.slots)
        named = list(zip(requests.sentences.tolist(), prefixes, strict=True))
        if not question.policy_only:
            self.evaluated.update(named)
        if question.policy:
            self.read.update(
                name for name, end in zip(named, requests.finished, strict=True) if not end
            )
        return self._evaluator.evaluate(tree, requests, question)


def listen(problem: ToyProblem, **options: Any) -> Listener:
    search, evaluator, _ = search_on(problem, search="mcts", **options)
    listener = Listener(evaluator)
    drive(search, listener, scorer_of(options))
    return listener


@pytest.mark.parametrize("leaves", [1, 4])
@some_models
@given(problem=toy_problems())
def test_policies_are_read_where_the_search_went_on(problem: ToyProblem, leaves: int) -> None:
    listener = listen(problem, simulations=12, leaves=leaves)
    parents = {(sentence, prefix[:-1]) for sentence, prefix in listener.evaluated if prefix}
    # a policy is read to choose a child, which is then evaluated; the other way round likewise
    assert set(listener.read) == parents
    assert all(listener.read[name] <= listener.evaluated[name] for name in listener.read)


def test_many_policies_are_never_read() -> None:
    problem = random_problem(np.random.default_rng(1))
    listener = listen(problem, simulations=40)
    assert 0 < listener.read.total() < 0.9 * listener.evaluated.total()


@some_models
@given(problem=toy_problems())
def test_rollouts_read_every_policy_at_once(problem: ToyProblem) -> None:
    metric = by_sentence_id(problem, ToyMetric(seed=23, kind="levels"))
    listener = listen(problem, simulations=5, leaf="rollout", metric=metric)
    eos = problem.decode_options()["eos"]
    assert listener.read == Counter(
        {name: n for name, n in listener.evaluated.items() if name[1][-1:] != (eos,)}
    )
