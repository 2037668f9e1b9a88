"""The rules of Danihelka et al. 2022, "Policy improvement by planning with Gumbel", as plainly as
they can be said, on the nodes of `reference_mcts`.

`test_against_mctx.py` holds the same rules against mctx.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.search.reference_mcts import MctsOptions, Node

Uniform = Callable[[int, int, int], float]  # (seed, sample, position) -> [0, 1)


def gumbel(uniform: float) -> float:
    return -math.log(-math.log(uniform)) if uniform > 0.0 else -math.log(54 * math.log(2))


def visits_of_considered(considered: int, simulations: int) -> list[int]:
    """For each simulation the visits that an action has which may be taken."""
    if considered == 1:
        return list(range(simulations))
    phases = math.ceil(math.log2(considered))
    sequence: list[int] = []
    visits, left = 0, considered
    while len(sequence) < simulations:
        for _ in range(max(1, math.floor(simulations / (phases * left)))):
            sequence += [visits] * left
            visits += 1
        left = max(2, left // 2)
    return sequence[:simulations]


def sigma(node: Node, options: MctsOptions) -> dict[int, float]:
    """σ of the completed Q of each action."""
    visited = {token: child.value for token, child in node.children.items()}
    mixed = node.own_value
    if visited:
        first = next(iter(visited.values()))
        mass = sum(node.prior[token] for token in visited)
        # from one of them, so that the mean of equal values is exactly theirs
        above = sum(node.prior[token] / mass * (q - first) for token, q in visited.items())
        visits = sum(child.visits for child in node.children.values())
        mixed += (first + above - mixed) * (visits / (visits + 1))
    completed = {token: visited.get(token, mixed) for token in node.prior}
    low, high = min(completed.values()), max(completed.values())
    most = max((child.visits for child in node.children.values()), default=0)
    scale = options.c_scale * (options.c_visit + most)
    return {token: scale * (q - low) / max(high - low, 1e-8) for token, q in completed.items()}


def counted_visits(node: Node, token: int) -> int:
    """Visits, and leaves in flight as if they were some."""
    child = node.children.get(token)
    return (0 if child is None else child.visits) + node.in_flight.get(token, 0)


def best_with_visits(node: Node, visits: int, noise: dict[int, float], options: MctsOptions) -> int:
    """Of the actions with so many visits the one of greatest g + log prior + σ(Q)."""
    sigmas = sigma(node, options)

    def score(token: int) -> float:
        return noise[token] + math.log(node.prior[token]) + sigmas[token]

    among = [token for token in node.prior if counted_visits(node, token) == visits]
    return max(among, key=lambda token: (score(token), node.prior[token], -token))


def select_at_root(node: Node, noise: dict[int, float], options: MctsOptions) -> int:
    considered = min(options.gumbel_actions, len(node.prior))
    simulation = sum(counted_visits(node, token) for token in node.prior)
    visits = visits_of_considered(considered, options.simulations)[simulation]
    return best_with_visits(node, visits, noise, options)


def choose(node: Node, noise: dict[int, float], options: MctsOptions) -> int:
    most = max(child.visits for child in node.children.values())
    return best_with_visits(node, most, noise, options)


def select_below_root(node: Node, options: MctsOptions) -> int:
    """Visits are to follow the improved policy, softmax(log prior + σ(completed Q))."""
    sigmas = sigma(node, options)
    high = max(sigmas.values())
    weights = {token: node.prior[token] * math.exp(sigmas[token] - high) for token in node.prior}
    total = sum(weights.values())
    visits = {token: counted_visits(node, token) for token in node.prior}

    def lag(token: int) -> float:
        return weights[token] / total - visits[token] / (1 + sum(visits.values()))

    return max(node.prior, key=lambda token: (lag(token), node.prior[token], -token))
