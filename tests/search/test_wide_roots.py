"""The Gumbel root as it is by default, with more next tokens than it considers, word by word."""

from __future__ import annotations

import random

import pytest

from tests.search.compare import assert_same_sentence, assert_same_steps, rules_of, run
from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.toy_models import ToyMetric, ToyModel, ToyProblem

MODELS = 8  # of each kind


@pytest.mark.parametrize("c_scale", [0.05, 1.0])
@pytest.mark.parametrize("below_root", ["puct", "improved"])
@pytest.mark.parametrize("policy", ["flat", "peaked"])
def test_the_same_searches(policy: str, below_root: str, c_scale: float) -> None:
    dice = random.Random(f"{policy} {below_root} {c_scale}")
    widest = 0
    for _ in range(MODELS):
        model = ToyModel(dice.randint(20, 40), dice.randrange(20), dice.randrange(99), policy)
        problem = ToyProblem(model, (dice.randrange(99),), max_len=dice.randint(2, 4))
        options = MctsOptions(
            simulations=dice.choice((50, 100)),
            root="gumbel",
            below_root=below_root,
            gumbel_scale=dice.choice((0.0, 1.0)),
            c_scale=c_scale,
        )
        seed = dice.randrange(1000)
        [[best]], _ = run(problem, search="mcts", trace=True, seed=seed, **vars(options))
        score = ToyMetric(1).score
        reference = ReferenceMcts(
            model, problem.sentence_ids[0], rules_of(problem), options, score, seed
        ).decode()
        assert_same_sentence(best, reference.best)
        assert_same_steps(best, reference)
        widest = max(widest, *(len(step.children) for step in best.steps))
    assert widest == options.gumbel_actions < options.actions
