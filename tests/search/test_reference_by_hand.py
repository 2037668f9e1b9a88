"""The reference itself against a search worked out with pencil and paper."""

from __future__ import annotations

import math

import pytest

from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.reference_rules import Prefix, Rules

A, B, EOS = 0, 1, 2

# prefix: (probabilities of A, B, EOS; value)
TABLE: dict[Prefix, tuple[tuple[float, float, float], float]] = {
    (): ((0.5, 0.25, 0.25), 0.4),
    (A,): ((0.25, 0.25, 0.5), 0.2),
    (B,): ((0.5, 0.25, 0.25), 0.6),
    (EOS,): ((1.0, 1.0, 1.0), 0.0),
    (A, EOS): ((1.0, 1.0, 1.0), 0.1),
    (B, A): ((0.25, 0.25, 0.5), 1.0),
    (B, EOS): ((1.0, 1.0, 1.0), 0.3),
}


def model(sentence: int, prefix: Prefix) -> tuple[list[float], float]:
    probabilities, value = TABLE[prefix]
    return [math.log(p) for p in probabilities], value


def first_tree(
    backup: str, simulations: int, power: float = 4.0
) -> dict[Prefix, tuple[int, float]]:
    rules = Rules(vocab=3, eos=EOS, max_len=5)
    options = MctsOptions(simulations=simulations, c_puct=1.0, backup=backup, power=power)
    root = ReferenceMcts(model, 0, rules, options).search_one_token(()).root
    return {node.prefix: (node.visits, node.value) for node in root.walk()}


# c = 1, min = max = 0.4 at first.
# 1. N = 1, nothing visited: bonuses .5, .25, .25         -> A, value .2; min .2, max .4
# 2. N = 2: A: Q̂ 0 + .5·1.414/2 = .354; B, EOS .354; in doubles A's bonus and B's are the same
#    number (halving is exact), the prior of A is higher   -> A again. Inside A, N = 1:
#    bonuses .25, .25, .5                                  -> (A, EOS), value .1; min .1
#    mean of A: (.2 + .1)/2 = .15
# 3. N = 3: A: Q̂ (.15-.1)/.3 = .167 + .5·1.732/3 = .289 -> .455; B, EOS: .433
#                                                          -> A. Inside A, N = 2:
#    EOS: Q̂ 0 + .5·1.414/2 = .354; A, B: .25·1.414 = .354. Higher prior: EOS
#                                                          -> (A, EOS) once more, value .1
#    mean of A: (.2 + .1 + .1)/3 = .1333
# 4. N = 4: A: Q̂ .111 + .5·2/4 = .25 -> .361; B, EOS: .25·2 = .5; B has the lower id
#                                                          -> B, value .6; max .6
# 5. N = 5: A: (.1333-.1)/.5 = .067 + .5·2.236/4 = .280 -> .346; B: 1 + .25·2.236/2 = .280
#    -> 1.280; EOS .559                                    -> B. Inside B, N = 1: A (.5)
#                                                          -> (B, A), value 1; max 1
#    mean of B: .8; root: (.4 + .2 + .1 + .1 + .6 + 1)/6 = .4
EXPECTED_MEAN = {
    (): (6, 0.4),
    (A,): (3, 0.4 / 3),
    (A, EOS): (2, 0.1),
    (B,): (2, 0.8),
    (B, A): (1, 1.0),
}


def test_five_simulations_with_mean_backup() -> None:
    found = first_tree("mean", simulations=5)
    assert {p: visits for p, (visits, _) in found.items()} == {
        p: visits for p, (visits, _) in EXPECTED_MEAN.items()
    }
    for prefix, (_, value) in found.items():
        assert value == pytest.approx(EXPECTED_MEAN[prefix][1], abs=1e-12)


# A child's Q counts by its visits, the node's own value as one more: in A and B, whose children
# have one value each, that is their mean; the root is the better of
# A: (3 · .1333 + .4)/4 = .2 and B: (2 · .8 + .4)/3 = .667.
def test_five_simulations_with_weighted_max_backup() -> None:
    found = first_tree("weighted-max", simulations=5)
    expected = {**EXPECTED_MEAN, (): (6, 2 / 3)}
    assert found.keys() == expected.keys()
    for prefix, (visits, value) in found.items():
        assert visits == expected[prefix][0]
        assert value == pytest.approx(expected[prefix][1], abs=1e-12)


# What is below A replaces its own value .2 at once:
# 2. -> (A, EOS), value .1, and so is A; min .1
# 3. A: Q̂ 0 + .5·1.732/3 = .289; B, EOS: .433                -> B, value .6; max .6
# 4. A: 0 + .5·2/3 = .333; B: 1 + .25·2/2 = 1.25; EOS: .5    -> B. Inside B: A, value 1
def test_four_simulations_with_bellman_backup() -> None:
    assert first_tree("bellman", simulations=4) == {
        (): (5, 1.0),
        (A,): (2, 0.1),
        (A, EOS): (1, 0.1),
        (B,): (2, 1.0),
        (B, A): (1, 1.0),
    }


# The power mean of own value and children: B has .6 and 1, measured from .1, so with the power 2
# .1 + √((.5² + .9²)/2) = .828; A has .2 and twice .1: .1 + √(.1²/3) = .158.
def test_a_power_mean() -> None:
    found = first_tree("power", simulations=5, power=2.0)
    assert {p: visits for p, (visits, _) in found.items()} == {
        p: visits for p, (visits, _) in EXPECTED_MEAN.items()
    }
    assert found[(A,)][1] == pytest.approx(0.1 + math.sqrt(0.01 / 3), abs=1e-12)
    assert found[(B,)][1] == pytest.approx(0.1 + math.sqrt(0.53), abs=1e-12)


# With the maximum A keeps its own value .2 for ever:
# 3. A: Q̂ (.2-.1)/.3 = .333 + .289 = .622                  -> A, (A, EOS) as before
# 4. A: .333 + .25 = .583; B, EOS: .5                       -> A. Inside A, N = 3:
#    EOS: 0 + .5·1.732/3 = .289; A, B: .25·1.732 = .433     -> (A, A): not in the table
# so three simulations.
def test_three_simulations_with_max_backup() -> None:
    assert first_tree("max", simulations=3) == {
        (): (4, 0.4),
        (A,): (3, 0.2),
        (A, EOS): (2, 0.1),
    }
    with pytest.raises(KeyError):
        first_tree("max", simulations=4)
