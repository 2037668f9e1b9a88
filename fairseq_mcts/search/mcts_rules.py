"""The rules of MCTS that its variants change: selection, a node's statistic, the final choice.

A rule with alternatives has a table from their names, which options give, to codes, which the
compiled walks of `mcts_kernels` carry along in `Rules`: a new one is a code and a branch here.
"""

import math

from fairseq_mcts.search.compiled import compiled, compiled_inline
from fairseq_mcts.search.mcts_records import Rules, State, Statistics
from fairseq_mcts.search.tree import Tree

SMALLEST_SPREAD = 1e-6

# what a node's Q is made of: its own value and everything that was backed up through it
MEAN = 0
MAX = 1
BACKUPS = {"mean": MEAN, "max": MAX}

# which child of the root becomes the next token
BY_VISITS = 0
BY_VALUE = 1
CHOICES = {"visits": BY_VISITS, "value": BY_VALUE}
CHOICE_NAMES = {code: name for name, code in CHOICES.items()}


@compiled_inline
def select_at_root(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> int:
    """The action that a simulation takes at the root: by the same rule as below it."""
    lowest, highest = state.lowest, state.highest
    return select_action(tree, statistics, state.root, lowest, highest, rules.c_puct)


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
def update_q(statistics: Statistics, slot: int, value: float, rules: Rules) -> None:
    """Takes a value that is backed up through `slot`, whose visits already count it."""
    node = statistics.nodes[slot]
    if rules.backup == MAX:
        node.q = max(node.q, value)
    else:
        # this form keeps the mean of equal values exactly equal to them
        node.q += (value - node.q) / node.visits


@compiled
def chosen_action(tree: Tree, statistics: Statistics, node: int, rules: Rules) -> int:
    """The visited child with the most visits or the highest Q, -1 if there is none."""
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
