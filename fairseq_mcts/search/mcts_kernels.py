"""The walks of MCTS through the prefix tree: select, expand, back up, choose; compiled.

Each output token gets a fresh search tree, as in the paper, laid over the prefix tree that lives
on: statistics count from zero, but a prefix that was evaluated for an earlier token is not
evaluated again. A sentence runs on through as many simulations and tokens as it can without the
network, so one call ends with every sentence waiting for something, or finished.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.tree import (
    NO_NODE,
    Int32,
    Records,
    Tree,
    allocate_child,
    release_subtree,
)

# phases of a sentence
OPENING = 0  # the leaf is being opened: its evaluation, rollout or score may be outstanding
SELECTING = 1  # the next simulation starts at the root
DECIDED = 2  # all simulations are done; the tree is whole and can be looked at
FINISHED = 3

# what a sentence waits for
NOTHING = 0
EVALUATION = 1
SCORE = 2

SMALLEST_SPREAD = 1e-6


# What the search tree of the current token says of a slot.
NODE = np.dtype(
    [
        ("q", np.float64),  # mean or maximum of the slot's own value and all backed up to it
        ("score", np.float64),  # the metric of a finished sentence, NaN: not asked for yet
        ("tree_number", np.int32),  # the search tree these belong to; any other: unvisited
        ("visits", np.int32),  # 1 + the visits of all children
        ("visits_when_chosen", np.int32),  # of committed slots, which are roots of their own since
    ],
    align=True,
)
# The same of an action's child, beside its siblings, where selection looks.
CHILD = np.dtype([("q", np.float64), ("visits", np.int32)], align=True)  # q only if visits > 0

# Where a sentence stands.
STATE = np.dtype(
    [
        ("lowest", np.float64),  # least value of a node in the current search tree
        ("highest", np.float64),
        ("charged", np.int64),
        ("made", np.int64),
        ("phase", np.int32),
        ("root", np.int32),  # slot of the tokens committed so far
        ("tree_number", np.int32),  # counts the output tokens, from 1
        ("simulations", np.int32),  # wanted per output token
        ("simulations_done", np.int32),
        ("leaf", np.int32),  # the slot being opened
        ("rollout", np.int32),  # how far the leaf's greedy completion has come
        ("wanted", np.int32),  # what the sentence waits for
        ("wanted_slot", np.int32),  # of which slot
    ],
    align=True,
)
State = Any  # one record of STATE


class Statistics(NamedTuple):
    """What the search trees say of N slots, each with A actions."""

    nodes: Records  # [N] of NODE
    children: Records  # [N, A] of CHILD


class Rules(NamedTuple):
    """The options that the walks read."""

    eos: int
    c_puct: float
    max_backup: bool
    choose_value: bool
    rollouts: bool
    score_finished: bool
    pause_when_decided: bool


@compiled
def select_action(
    tree: Tree, statistics: Statistics, node: int, lowest: float, highest: float, c_puct: float
) -> int:
    """The action with the highest pUCT score: rescaled value plus exploration bonus.

    An unvisited child's rescaled value is 0. Priors descend, so the first unvisited child beats
    all others that are unvisited (ties go to the first too), and none behind it was ever visited.
    """
    root_of_visits = math.sqrt(statistics.nodes[node].visits)
    spread = max(highest - lowest, SMALLEST_SPREAD)
    best_action = 0
    best_score = -math.inf
    for action in range(tree.prefixes[node].num_actions):
        child = statistics.children[node, action]
        score = c_puct * tree.actions[node, action].weight * root_of_visits / (1 + child.visits)
        if child.visits > 0:
            score = (child.q - lowest) / spread + score
        if score > best_score:
            best_score = score
            best_action = action
        if child.visits == 0:
            break
    return best_action


@compiled
def new_node(tree: Tree, statistics: Statistics, parent: int, action: int) -> int:
    """The slot that `action` leads to, of which nothing is known yet."""
    child = allocate_child(tree, parent, action)
    statistics.nodes[child].tree_number = 0
    statistics.nodes[child].score = math.nan
    return child


@compiled
def descend(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> int:
    """One selection from the root; the slot where it ends: unvisited so far, or finished."""
    node = state.root
    number = state.tree_number
    lowest, highest = state.lowest, state.highest
    while True:
        action = select_action(tree, statistics, node, lowest, highest, rules.c_puct)
        child = tree.actions[node, action].child
        if child == NO_NODE:
            child = new_node(tree, statistics, node, action)
        if statistics.nodes[child].tree_number != number or tree.prefixes[child].token == rules.eos:
            return child
        node = child


@compiled
def back_up(
    tree: Tree, statistics: Statistics, leaf: int, root: int, value: float, max_backup: bool
) -> None:
    """Carries the value of `leaf`, whose own statistics are up to date, to all its ancestors."""
    slot = leaf
    while slot != root:
        node = statistics.nodes[slot]
        parent_slot = tree.prefixes[slot].parent
        beside_siblings = statistics.children[parent_slot, tree.prefixes[slot].action_of_parent]
        beside_siblings.visits = node.visits
        beside_siblings.q = node.q
        parent = statistics.nodes[parent_slot]
        parent.visits += 1
        if max_backup:
            parent.q = max(parent.q, value)
        else:
            # this form keeps the mean of equal values exactly equal to them
            parent.q += (value - parent.q) / parent.visits
        slot = parent_slot


@compiled
def expand(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaf: int,
    value: float,
    max_backup: bool,
) -> None:
    """Makes `leaf` a node of the current search tree and backs its value up."""
    node = statistics.nodes[leaf]
    node.tree_number = state.tree_number
    node.visits = 1
    node.q = value
    for action in range(tree.prefixes[leaf].num_actions):
        statistics.children[leaf, action].visits = 0
    state.lowest = min(state.lowest, value)
    state.highest = max(state.highest, value)
    back_up(tree, statistics, leaf, state.root, value, max_backup)


@compiled
def revisit(tree: Tree, statistics: Statistics, state: State, leaf: int, rules: Rules) -> None:
    """Backs the value of an already visited finished sentence up once more."""
    statistics.nodes[leaf].visits += 1
    state.charged += 1
    back_up(tree, statistics, leaf, state.root, statistics.nodes[leaf].q, rules.max_backup)


@compiled
def follow_rollout(tree: Tree, statistics: Statistics, state: State, eos: int) -> int:
    """Walks the greedy completion on as far as it is known; what it waits for, if anything."""
    node = state.rollout
    while tree.prefixes[node].token != eos:
        if not tree.prefixes[node].known:
            state.rollout = node
            return EVALUATION
        child = tree.actions[node, 0].child
        if child == NO_NODE:
            child = new_node(tree, statistics, node, 0)
        node = child
    state.rollout = node
    return SCORE if math.isnan(statistics.nodes[node].score) else NOTHING


@compiled
def open_leaf(
    tree: Tree, statistics: Statistics, state: State, rules: Rules
) -> tuple[int, int, float]:
    """(NOTHING, -, the leaf's value), or (what is wanted, for which slot, -)."""
    leaf = state.leaf
    if tree.prefixes[leaf].token == rules.eos and rules.score_finished:
        if math.isnan(statistics.nodes[leaf].score):
            return SCORE, leaf, 0.0
        state.charged += 1
        return NOTHING, leaf, statistics.nodes[leaf].score
    if not tree.prefixes[leaf].known:
        return EVALUATION, leaf, 0.0
    if not rules.rollouts:
        state.charged += 1
        return NOTHING, leaf, tree.prefixes[leaf].value
    wanted = follow_rollout(tree, statistics, state, rules.eos)
    end = state.rollout
    if wanted != NOTHING:
        return wanted, end, 0.0
    state.charged += 1 + tree.prefixes[end].depth - tree.prefixes[leaf].depth
    return NOTHING, leaf, statistics.nodes[end].score


@compiled
def chosen_action(tree: Tree, statistics: Statistics, root: int, by_value: bool) -> int:
    """The visited child with the most visits or the highest Q; ties as everywhere."""
    best_action = -1
    for action in range(tree.prefixes[root].num_actions):
        child = statistics.children[root, action]
        if child.visits == 0:
            continue
        if best_action == -1:
            better = True
        elif by_value:
            better = child.q > statistics.children[root, best_action].q
        else:
            better = child.visits > statistics.children[root, best_action].visits
        if better:
            best_action = action
    return best_action


@compiled
def start_tree(state: State, root: int) -> None:
    """A fresh search tree; its root is opened like any leaf, from memory if it is known."""
    state.root = root
    state.tree_number += 1
    state.simulations_done = -1  # the root's own opening makes it 0
    state.lowest = math.inf
    state.highest = -math.inf
    state.leaf = root
    state.rollout = root
    state.phase = OPENING


@compiled
def commit(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> None:
    """Makes the chosen child the new root and frees its siblings' subtrees."""
    root = state.root
    action = chosen_action(tree, statistics, root, rules.choose_value)
    chosen = tree.actions[root, action].child
    for other in range(tree.prefixes[root].num_actions):
        child = tree.actions[root, other].child
        if other != action and child != NO_NODE:
            release_subtree(tree, child)
    statistics.nodes[chosen].visits_when_chosen = statistics.nodes[chosen].visits
    if tree.prefixes[chosen].token == rules.eos:
        state.root = chosen
        state.phase = FINISHED
    else:
        start_tree(state, chosen)


@compiled
def advance_sentence(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> None:
    """Runs one sentence until it waits for the network or a score, pauses, or is finished."""
    state.wanted = NOTHING
    while state.phase != FINISHED:
        if state.phase == DECIDED:
            commit(tree, statistics, state, rules)
        elif state.phase == OPENING:
            wanted, slot, value = open_leaf(tree, statistics, state, rules)
            if wanted != NOTHING:
                state.wanted = wanted
                state.wanted_slot = slot
                state.made += wanted == EVALUATION
                return
            expand(tree, statistics, state, state.leaf, value, rules.max_backup)
            state.simulations_done += 1
            state.phase = SELECTING
        elif state.simulations_done == state.simulations:
            state.phase = DECIDED
            if rules.pause_when_decided:
                return
        else:
            leaf = descend(tree, statistics, state, rules)
            if statistics.nodes[leaf].tree_number == state.tree_number:
                revisit(tree, statistics, state, leaf, rules)
                state.simulations_done += 1
            else:
                state.leaf = leaf
                state.rollout = leaf
                state.phase = OPENING


@compiled
def advance(
    tree: Tree,
    statistics: Statistics,
    states: Records,  # [S] of STATE
    sentences: Int32,  # [s] which of them to run
    rules: Rules,
) -> None:
    """Runs some sentences; see `advance_sentence`."""
    for sentence in sentences:
        advance_sentence(tree, statistics, states[sentence], rules)
