"""Ties that hold in real numbers: the rules decide them, and rounding must not.

Uniform policies over 4 or 8 tokens have priors of exactly ¼ or ⅛, and with few round values the
exploration bonus and the rescaled value meet exactly. "Ties everywhere: higher prior, then lower
token id."
"""

from __future__ import annotations

import pytest

from tests.search.compare import assert_same_sentence, assert_same_steps, rules_of, run
from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.toy_models import ToyMetric, ToyModel, ToyProblem


@pytest.mark.parametrize("temperature", [1.0, 0.9, 0.25, 1.1])
@pytest.mark.parametrize("vocab", [4, 8])
def test_uniform_priors_have_no_rounding_error(vocab: int, temperature: float) -> None:
    """All tokens tie at first; then 1 + c·P·√N/(1+n) meets c·P·√N again and again."""
    for values in ("constant", "zero", "levels", "signed_levels"):
        model = ToyModel(vocab=vocab, eos=0, seed=vocab, policy="uniform", values=values)
        problem = ToyProblem(model, max_len=3)
        for c_puct in (1.0, 3.0, 8.0):
            for backup in ("mean", "max"):
                options = MctsOptions(
                    simulations=60, c_puct=c_puct, temperature=temperature, backup=backup
                )
                results, evaluate = run(problem, search="mcts", trace=True, **vars(options))
                reference = ReferenceMcts(model, 0, rules_of(problem), options).decode()
                assert_same_sentence(results[0][0], reference.best)
                assert_same_steps(results[0][0], reference)
                assert evaluate.asked[0] == reference.asked


def test_a_visited_best_child_ties_with_an_unvisited_one() -> None:
    """1 + 3·⅛·√9/(1+8) = 3·⅛·√9/(1+0): both are 1.125, so the lower token id is taken.

    Behind token 1, eight visits to its child 1 tie with none to its child 2.
    """
    model = ToyModel(vocab=9, eos=0, seed=0, policy="uniform")
    problem = ToyProblem(model, max_len=2, min_len=2)
    options = MctsOptions(
        simulations=11, actions=2, c_puct=3.0, temperature=0.9, backup="max", leaf="rollout"
    )
    metric = ToyMetric(seed=0)
    results, _ = run(problem, search="mcts", trace=True, metric=metric, **vars(options))
    reference = ReferenceMcts(model, 0, rules_of(problem), options, metric.score).decode()
    first_tree = {node.prefix: node.visits for node in reference.steps[0].root.walk()}
    assert first_tree[(1,)] == 10
    assert (1, 2) not in first_tree
    assert_same_steps(results[0][0], reference)
    # a tree that opened (1, 2) would have charged for its completion
    assert results[0][0].evaluations.charged == reference.charged
