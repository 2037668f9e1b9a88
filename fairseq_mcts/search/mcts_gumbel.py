"""Planning with Gumbel noise (Danihelka et al. 2022): the root's sequential halving; compiled.

The root considers the m actions of greatest g + log prior, where g is Gumbel noise, and spends the
simulations of an output token on them in phases: each visits all that are left equally often and
keeps the better half, by g + log prior + σ(Q). The output token is the best by the same sum of
those with most visits. Even with two simulations that is no worse than a draw from the policy by
the Q that was seen.

σ brings Q to the scale of logits: σ(q) = (c_visit + most visits of a child) c_scale q̂, where q̂ is
q rescaled to [0, 1] by the least and the greatest completed Q of the same node. Q is completed: an
unvisited action has the node's mixed value, which is made of the node's own value and of the Q of
the visited actions.

A leaf in flight counts as a visit where visits decide who is next. Q, the mixed value and σ are
made of what has come back.
"""

import math

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.mcts_records import Rules, State, Statistics
from fairseq_mcts.search.random_numbers import gumbel
from fairseq_mcts.search.tree import Tree

SMALLEST_SPREAD_OF_Q = 1e-8
SMALLEST_PRIOR = 2.0**-1022  # one that has underflowed still weighs something


@compiled
def considered_visits(num_considered: int, simulations: int, done: int) -> int:
    """How many visits an action has that may be taken after `done` of all simulations: all that
    are left in a phase of sequential halving get one more, then another, until it is over."""
    if num_considered == 1:
        return done
    halvings = 0
    while 1 << halvings < num_considered:
        halvings += 1
    left, begun, visits = num_considered, 0, 0
    while True:
        rounds = max(1, simulations // (halvings * left))
        if done < begun + rounds * left:
            return visits + (done - begun) // left
        begun += rounds * left
        visits += rounds
        left = max(2, left // 2)


@compiled
def completing_value(
    tree: Tree, statistics: Statistics, node: int, rules: Rules
) -> tuple[float, float, float]:
    """(mixed, highest, slope) of a node with a policy: unvisited actions have Q = mixed, and
    σ(q) is, up to a constant that changes no choice, slope (q - highest)."""
    num_actions = tree.prefixes[node].num_actions
    # visited actions: the first one's Q, how far all are above it by their priors, and the sum of
    # these; so the mean of equal values is exactly theirs
    first, above, mass = 0.0, 0.0, 0.0
    lowest, highest = math.inf, -math.inf
    most_visits, num_visited = 0, 0
    for action in range(num_actions):
        child = statistics.children[node, action]
        if child.visits == 0:
            continue
        if num_visited == 0:
            first = child.q
        prior = max(tree.actions[node, action].weight, SMALLEST_PRIOR)
        above += prior * (child.q - first)
        mass += prior
        lowest = min(lowest, child.q)
        highest = max(highest, child.q)
        most_visits = max(most_visits, child.visits)
        num_visited += 1
    own, visits = statistics.nodes[node].own, statistics.nodes[node].visits
    mixed = own
    if num_visited > 0:
        mixed += (first + above / mass - own) * ((visits - 1) / visits)
    if num_visited < num_actions:
        lowest = min(lowest, mixed)
        highest = max(highest, mixed)
    spread = max(highest - lowest, SMALLEST_SPREAD_OF_Q)
    return mixed, highest, (rules.c_visit + most_visits) * rules.c_scale / spread


@compiled
def best_considered(
    tree: Tree,
    statistics: Statistics,
    node: int,
    visits: int,
    seed: int,
    noise_scale: float,
    rules: Rules,
) -> int:
    """Of the actions with so many visits the one of greatest g + log prior + σ(Q); ties go to the
    first. The noise depends on the seed, the length of the prefix and the token alone."""
    mixed, highest, slope = completing_value(tree, statistics, node, rules)
    depth = tree.prefixes[node].depth
    best_action = -1
    best_score = -math.inf
    for action in range(tree.prefixes[node].num_actions):
        child = statistics.children[node, action]
        if child.visits + child.in_flight != visits:
            continue
        q = child.q if child.visits > 0 else mixed
        score = math.log(max(tree.actions[node, action].weight, SMALLEST_PRIOR))
        score += slope * (q - highest)
        if noise_scale > 0.0:
            score += noise_scale * gumbel(seed, tree.actions[node, action].token, depth)
        if best_action == -1 or score > best_score:
            best_score = score
            best_action = action
    return best_action


@compiled
def select_considered(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> int:
    """The action that the next simulation takes at the root, by sequential halving."""
    root = state.root
    num_considered = min(rules.gumbel_actions, tree.prefixes[root].num_actions)
    done = statistics.nodes[root].visits - 1 + statistics.nodes[root].in_flight
    visits = considered_visits(num_considered, state.simulations, done)
    return best_considered(tree, statistics, root, visits, state.seed, rules.gumbel_scale, rules)


@compiled
def choose_considered(
    tree: Tree, statistics: Statistics, state: State, node: int, rules: Rules
) -> int:
    """The best of the most visited children, -1 if none was visited; below the root, where there
    is no noise, by log prior + σ(Q) alone."""
    most = 0
    for action in range(tree.prefixes[node].num_actions):
        most = max(most, statistics.children[node, action].visits)
    if most == 0:
        return -1
    noise_scale = rules.gumbel_scale if node == state.root else 0.0
    return best_considered(tree, statistics, node, most, state.seed, noise_scale, rules)


@compiled
def improved_weight(
    tree: Tree,
    statistics: Statistics,
    node: int,
    action: int,
    mixed: float,  # these three are of `completing_value`
    highest: float,
    slope: float,
) -> float:
    """The action's probability in the improved policy, softmax(log prior + σ(Q)), but for a
    factor that all have."""
    child = statistics.children[node, action]
    q = child.q if child.visits > 0 else mixed
    return tree.actions[node, action].weight * math.exp(slope * (q - highest))


@compiled
def select_improved(tree: Tree, statistics: Statistics, node: int, rules: Rules) -> int:
    """The action whose share of the visits lags most behind the improved policy; ties go to the
    first.

    All unvisited actions have the same Q and priors descend, so the first of them beats the
    others, and none behind it was ever visited.
    """
    mixed, highest, slope = completing_value(tree, statistics, node, rules)
    num_actions = tree.prefixes[node].num_actions
    total = 0.0
    for action in range(num_actions):
        total += improved_weight(tree, statistics, node, action, mixed, highest, slope)
    counted = statistics.nodes[node].visits + statistics.nodes[node].in_flight  # 1 + the children's
    best_action = 0
    best_lag = -math.inf
    for action in range(num_actions):
        child = statistics.children[node, action]
        visits = child.visits + child.in_flight
        weight = improved_weight(tree, statistics, node, action, mixed, highest, slope)
        lag = weight / total - visits / counted
        if lag > best_lag:
            best_lag = lag
            best_action = action
        if visits == 0:
            break
    return best_action
