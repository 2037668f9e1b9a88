"""The rules of MCTS that its variants change: selection, a node's statistic, the final choice.

A rule with alternatives has a table from their names, which options give, to codes, which the
compiled walks of `mcts_kernels` carry along in `Rules`: a new one is a code and a branch here.
"""

import math

from fairseq_mcts.search.compiled import compiled, compiled_inline
from fairseq_mcts.search.mcts_gumbel import choose_considered, select_considered, select_improved
from fairseq_mcts.search.mcts_records import Rules, State, Statistics
from fairseq_mcts.search.tree import Tree

SMALLEST_SPREAD = 1e-6

# how simulations are spread over the root's actions, and with it the final choice
PUCT = 0
GUMBEL = 1
ROOTS = {"puct": PUCT, "gumbel": GUMBEL}

# how a child is selected below the root
IMPROVED = 1
BELOW_ROOT = {"puct": PUCT, "improved": IMPROVED}

# what a node's Q is made of: its own value and everything that was backed up through it
MEAN = 0
MAX = 1
BELLMAN = 2
WEIGHTED_MAX = 3
POWER = 4
BACKUPS = {
    "mean": MEAN,
    "max": MAX,
    "bellman": BELLMAN,
    "weighted-max": WEIGHTED_MAX,
    "power": POWER,
}

# which child of the root becomes the next token
BY_VISITS = 0
BY_VALUE = 1
CHOICES = {"visits": BY_VISITS, "value": BY_VALUE}
CHOICE_NAMES = {code: name for name, code in CHOICES.items()}


def choice_name(rules: Rules) -> str:
    """What the root's chosen child has most of; "gumbel" for the sum that a Gumbel root goes by."""
    return "gumbel" if rules.root == GUMBEL else CHOICE_NAMES[rules.choose]


@compiled_inline
def select_at_root(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> int:
    """The action that a simulation takes at the root."""
    if rules.root == GUMBEL:
        return select_considered(tree, statistics, state, rules)
    lowest, highest = state.lowest, state.highest
    return select_action(tree, statistics, state.root, lowest, highest, rules.c_puct)


@compiled_inline
def select_below_root(
    tree: Tree, statistics: Statistics, state: State, node: int, rules: Rules
) -> int:
    """The action that a simulation takes at a node below the root."""
    if rules.below_root == IMPROVED:
        return select_improved(tree, statistics, node, rules)
    return select_action(tree, statistics, node, state.lowest, state.highest, rules.c_puct)


@compiled
def select_action(
    tree: Tree, statistics: Statistics, node: int, lowest: float, highest: float, c_puct: float
) -> int:
    """The action with the highest pUCT score: rescaled value plus exploration bonus.

    An unvisited child's rescaled value is 0. Priors descend, so the first unvisited child beats
    all others that are unvisited (ties go to the first too), and none behind it was ever visited.
    A leaf in flight counts as a visit with the rescaled value 0: a virtual loss.
    """
    root_of_visits = math.sqrt(statistics.nodes[node].visits + statistics.nodes[node].in_flight)
    spread = max(highest - lowest, SMALLEST_SPREAD)
    best_action = 0
    best_score = -math.inf
    for action in range(tree.prefixes[node].num_actions):
        child = statistics.children[node, action]
        visits = child.visits + child.in_flight
        score = c_puct * tree.actions[node, action].weight * root_of_visits / (1 + visits)
        if child.visits > 0:
            rescaled = (child.q - lowest) / spread
            if child.in_flight > 0:
                rescaled = rescaled * child.visits / visits
            score = rescaled + score
        if score > best_score:
            best_score = score
            best_action = action
        if visits == 0:
            break
    return best_action


@compiled_inline
def update_q(
    tree: Tree, statistics: Statistics, state: State, slot: int, value: float, rules: Rules
) -> None:
    """Takes a value that is backed up through `slot`, whose visits and children already count
    it."""
    node = statistics.nodes[slot]
    if rules.backup == MAX:
        node.q = max(node.q, value)
    elif rules.backup == MEAN:
        # this form keeps the mean of equal values exactly equal to them
        node.q += (value - node.q) / node.visits
    elif rules.backup == POWER:
        node.q = power_mean(tree, statistics, state, slot, rules.power)
    else:
        weight_of_own = 1 if rules.backup == WEIGHTED_MAX else 0
        node.q = greatest_of_children(tree, statistics, slot, weight_of_own)


@compiled
def greatest_of_children(
    tree: Tree, statistics: Statistics, slot: int, weight_of_own: int
) -> float:
    """The greatest Q of the visited children, of which there is one at least.

    With a weight of its own value (in visits) each child's Q is first averaged with that: one that
    was seen once has to be far better than what was expected, one that was seen often has not.
    """
    own = statistics.nodes[slot].own
    greatest = -math.inf
    for action in range(tree.prefixes[slot].num_actions):
        child = statistics.children[slot, action]
        if child.visits > 0:
            away = (child.q - own) * weight_of_own / (child.visits + weight_of_own)
            greatest = max(greatest, child.q - away)
    return greatest


@compiled
def power_mean(tree: Tree, statistics: Statistics, state: State, slot: int, power: float) -> float:
    """The power mean of the slot's own value and its children's Q, each as often as visited.

    The mean has the power 1, the maximum an infinite one. As powers of negative numbers make no
    sense, values are measured from the least of the current search tree.
    """
    lowest = state.lowest
    node = statistics.nodes[slot]
    num_actions = tree.prefixes[slot].num_actions
    greatest = node.own - lowest
    for action in range(num_actions):
        child = statistics.children[slot, action]
        if child.visits > 0:
            greatest = max(greatest, child.q - lowest)
    if greatest <= 0.0:
        return lowest
    # relative to the greatest: no power of a number in [0, 1] overflows, and one does not vanish
    total = ((node.own - lowest) / greatest) ** power
    for action in range(num_actions):
        child = statistics.children[slot, action]
        if child.visits > 0:
            # rounding must not make it negative
            total += child.visits * (max(child.q - lowest, 0.0) / greatest) ** power
    return lowest + greatest * (total / node.visits) ** (1.0 / power)


@compiled
def chosen_action(tree: Tree, statistics: Statistics, state: State, node: int, rules: Rules) -> int:
    """The visited child with the most visits or the highest Q, or what a Gumbel root chooses; -1
    if there is none."""
    if rules.root == GUMBEL:
        return choose_considered(tree, statistics, state, node, rules)
    best_action = -1
    for action in range(tree.prefixes[node].num_actions):
        child = statistics.children[node, action]
        if child.visits == 0:
            continue
        if best_action == -1:
            better = True
        elif rules.choose == BY_VALUE:
            better = child.q > statistics.children[node, best_action].q
        else:
            better = child.visits > statistics.children[node, best_action].visits
        if better:
            best_action = action
    return best_action
