"""The Gumbel root and the improved policy below it against mctx, whose authors wrote the paper.

`make_mctx_trees.py` has written down what mctx found.
"""

from __future__ import annotations

import pytest

from tests.search.compare import run
from tests.search.mctx_trees import STEPS, Case, Found, read

CASES = read()


def test_that_there_are_five_hundred_trees() -> None:
    assert sum(len(steps) for _, found in CASES for steps in found) >= 500


@pytest.mark.parametrize(("case", "found"), CASES, ids=[case.name for case, _ in CASES])
def test_the_same_tokens_visits_and_values(case: Case, found: list[list[Found]]) -> None:
    rules = {"root": "gumbel", "below_root": "improved", "c_scale": 0.1}  # mctx's default
    options = {**rules, **case.options}
    results, _ = run(case, search="mcts", trace=True, seed=case.seeds, **options)
    for [hypothesis], expected in zip(results, found, strict=True):
        for step, by_mctx in zip(hypothesis.steps[:STEPS], expected, strict=True):
            assert step.token == by_mctx.token
            visits = {token: child[0] for token, child in step.children.items()}
            assert visits == {token: child[0] for token, child in by_mctx.children.items()}
            for token, (_, q) in step.children.items():
                assert q == pytest.approx(by_mctx.children[token][1], abs=1e-6)
