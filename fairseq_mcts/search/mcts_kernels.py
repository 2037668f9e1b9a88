"""The walks of MCTS through the prefix tree: select, expand, back up, choose; compiled.

Each output token gets a fresh search tree, as in the paper, laid over the prefix tree that lives
on: statistics count from zero, but a prefix that was evaluated for an earlier token is not
evaluated again. A sentence runs on through as many simulations and tokens as it can without the
network, so one call ends with every sentence waiting for something, or finished.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.tree import (
    NO_NODE,
    Bool,
    Float64,
    Int32,
    Tree,
    allocate_child,
    release_subtree,
)

Int64 = NDArray[np.int64]

# phases of a sentence
OPENING = 0  # the leaf is being opened: its evaluation, rollout or score may be outstanding
SELECTING = 1  # the next simulation starts at the root
DECIDED = 2  # all simulations are done; the tree is whole and can be looked at
FINISHED = 3

# what opening a leaf waits for
NOTHING = 0
EVALUATION = 1
SCORE = 2

SMALLEST_SPREAD = 1e-6


class Statistics(NamedTuple):
    """What the search tree of the current token says of N slots, each with A actions."""

    tree_number: Int32  # [N] the search tree that the numbers belong to; any other: unvisited
    visits: Int32  # [N] 1 + the visits of all children
    q: Float64  # [N] mean or maximum of the slot's own value and all that was backed up to it
    child_visits: Int32  # [N, A]
    child_q: Float64  # [N, A] read only where child_visits > 0
    score: Float64  # [N] the metric of a finished sentence, NaN: not asked for yet
    visits_when_chosen: Int32  # [N] of committed slots, whose own search trees have begun since


class Progress(NamedTuple):
    """Where each of S sentences stands."""

    phase: Int32  # [S]
    root: Int32  # [S] slot of the tokens committed so far
    tree_number: Int32  # [S] counts the output tokens, from 1
    simulations: Int32  # [S] wanted per output token
    simulations_done: Int32  # [S]
    lowest: Float64  # [S] least value of a node in the current search tree
    highest: Float64  # [S]
    leaf: Int32  # [S] the slot being opened
    rollout: Int32  # [S] how far the leaf's greedy completion has come
    charged: Int64  # [S]
    made: Int64  # [S]


class Rules(NamedTuple):
    """The options that the walks read."""

    eos: int
    c_puct: float
    max_backup: bool
    choose_value: bool
    rollouts: bool
    score_finished: bool
    pause_when_decided: bool


class Wants(NamedTuple):
    """What the sentences wait for; room for one entry a sentence."""

    evaluations: Int32  # [S] slots
    num_evaluations: Int32  # [1]
    scores: Int32  # [S] slots of finished sentences
    num_scores: Int32  # [1]


@compiled
def select_action(
    tree: Tree, statistics: Statistics, node: int, lowest: float, highest: float, c_puct: float
) -> int:
    """The action with the highest pUCT score: rescaled value plus exploration bonus.

    An unvisited child's rescaled value is 0. Priors descend, so the first unvisited child beats
    all others that are unvisited (ties go to the first too), and none behind it was ever visited.
    """
    root_of_visits = math.sqrt(statistics.visits[node])
    spread = max(highest - lowest, SMALLEST_SPREAD)
    best_action = 0
    best_score = -math.inf
    for action in range(tree.num_actions[node]):
        child_visits = statistics.child_visits[node, action]
        score = c_puct * tree.action_weight[node, action] * root_of_visits / (1 + child_visits)
        if child_visits > 0:
            score = (statistics.child_q[node, action] - lowest) / spread + score
        if score > best_score:
            best_score = score
            best_action = action
        if child_visits == 0:
            break
    return best_action


@compiled
def descend(
    tree: Tree, statistics: Statistics, progress: Progress, sentence: int, rules: Rules
) -> int:
    """One selection from the root; the slot where it ends: unvisited so far, or finished."""
    node = progress.root[sentence]
    number = progress.tree_number[sentence]
    lowest, highest = progress.lowest[sentence], progress.highest[sentence]
    while True:
        action = select_action(tree, statistics, node, lowest, highest, rules.c_puct)
        child = tree.child[node, action]
        if child == NO_NODE:
            child = allocate_child(tree, node, action)
            statistics.tree_number[child] = 0
            statistics.score[child] = math.nan
        if statistics.tree_number[child] != number or tree.token[child] == rules.eos:
            return child
        node = child


@compiled
def back_up(
    tree: Tree, statistics: Statistics, leaf: int, root: int, value: float, max_backup: bool
) -> None:
    """Carries the value of `leaf`, whose own statistics are up to date, to all its ancestors."""
    node = leaf
    while node != root:
        parent = tree.parent[node]
        action = tree.action_of_parent[node]
        statistics.child_visits[parent, action] = statistics.visits[node]
        statistics.child_q[parent, action] = statistics.q[node]
        statistics.visits[parent] += 1
        if max_backup:
            statistics.q[parent] = max(statistics.q[parent], value)
        else:
            # this form keeps the mean of equal values exactly equal to them
            statistics.q[parent] += (value - statistics.q[parent]) / statistics.visits[parent]
        node = parent


@compiled
def expand(
    tree: Tree,
    statistics: Statistics,
    progress: Progress,
    sentence: int,
    leaf: int,
    value: float,
    max_backup: bool,
) -> None:
    """Makes `leaf` a node of the current search tree and backs its value up."""
    statistics.tree_number[leaf] = progress.tree_number[sentence]
    statistics.visits[leaf] = 1
    statistics.q[leaf] = value
    statistics.child_visits[leaf, :] = 0
    progress.lowest[sentence] = min(progress.lowest[sentence], value)
    progress.highest[sentence] = max(progress.highest[sentence], value)
    back_up(tree, statistics, leaf, progress.root[sentence], value, max_backup)


@compiled
def revisit(
    tree: Tree, statistics: Statistics, progress: Progress, sentence: int, leaf: int, rules: Rules
) -> None:
    """Backs the value of an already visited finished sentence up once more."""
    statistics.visits[leaf] += 1
    progress.charged[sentence] += 1
    root = progress.root[sentence]
    back_up(tree, statistics, leaf, root, statistics.q[leaf], rules.max_backup)


@compiled
def follow_rollout(
    tree: Tree, statistics: Statistics, progress: Progress, sentence: int, eos: int
) -> int:
    """Walks the greedy completion on as far as it is known; what it waits for, if anything."""
    node = progress.rollout[sentence]
    while tree.token[node] != eos:
        if not tree.known[node]:
            progress.rollout[sentence] = node
            return EVALUATION
        child = tree.child[node, 0]
        if child == NO_NODE:
            child = allocate_child(tree, node, 0)
            statistics.tree_number[child] = 0
            statistics.score[child] = math.nan
        node = child
    progress.rollout[sentence] = node
    return SCORE if math.isnan(statistics.score[node]) else NOTHING


@compiled
def open_leaf(
    tree: Tree, statistics: Statistics, progress: Progress, sentence: int, rules: Rules
) -> tuple[int, int, float]:
    """(NOTHING, -, the leaf's value), or (what is wanted, for which slot, -)."""
    leaf = progress.leaf[sentence]
    if tree.token[leaf] == rules.eos and rules.score_finished:
        if math.isnan(statistics.score[leaf]):
            return SCORE, leaf, 0.0
        progress.charged[sentence] += 1
        return NOTHING, leaf, statistics.score[leaf]
    if not tree.known[leaf]:
        return EVALUATION, leaf, 0.0
    if not rules.rollouts:
        progress.charged[sentence] += 1
        return NOTHING, leaf, tree.value[leaf]
    wanted = follow_rollout(tree, statistics, progress, sentence, rules.eos)
    end = progress.rollout[sentence]
    if wanted != NOTHING:
        return wanted, end, 0.0
    progress.charged[sentence] += 1 + tree.depth[end] - tree.depth[leaf]
    return NOTHING, leaf, statistics.score[end]


@compiled
def chosen_action(tree: Tree, statistics: Statistics, root: int, by_value: bool) -> int:
    """The visited child with the most visits or the highest Q; ties as everywhere."""
    best_action = -1
    for action in range(tree.num_actions[root]):
        if statistics.child_visits[root, action] == 0:
            continue
        if best_action == -1:
            better = True
        elif by_value:
            better = statistics.child_q[root, action] > statistics.child_q[root, best_action]
        else:
            better = (
                statistics.child_visits[root, action] > statistics.child_visits[root, best_action]
            )
        if better:
            best_action = action
    return best_action


@compiled
def start_tree(progress: Progress, sentence: int, root: int) -> None:
    """A fresh search tree; its root is opened like any leaf, from memory if it is known."""
    progress.root[sentence] = root
    progress.tree_number[sentence] += 1
    progress.simulations_done[sentence] = -1  # the root's own opening makes it 0
    progress.lowest[sentence] = math.inf
    progress.highest[sentence] = -math.inf
    progress.leaf[sentence] = root
    progress.rollout[sentence] = root
    progress.phase[sentence] = OPENING


@compiled
def commit(
    tree: Tree, statistics: Statistics, progress: Progress, sentence: int, rules: Rules
) -> None:
    """Makes the chosen child the new root and frees its siblings' subtrees."""
    root = progress.root[sentence]
    action = chosen_action(tree, statistics, root, rules.choose_value)
    chosen = tree.child[root, action]
    for other in range(tree.num_actions[root]):
        child = tree.child[root, other]
        if other != action and child != NO_NODE:
            release_subtree(tree, child)
    statistics.visits_when_chosen[chosen] = statistics.visits[chosen]
    if tree.token[chosen] == rules.eos:
        progress.root[sentence] = chosen
        progress.phase[sentence] = FINISHED
    else:
        start_tree(progress, sentence, chosen)


@compiled
def advance_sentence(
    tree: Tree,
    statistics: Statistics,
    progress: Progress,
    wants: Wants,
    sentence: int,
    rules: Rules,
) -> None:
    """Runs one sentence until it waits for the network or a score, pauses, or is finished."""
    while progress.phase[sentence] != FINISHED:
        if progress.phase[sentence] == DECIDED:
            commit(tree, statistics, progress, sentence, rules)
        elif progress.phase[sentence] == OPENING:
            wanted, slot, value = open_leaf(tree, statistics, progress, sentence, rules)
            if wanted == EVALUATION:
                wants.evaluations[wants.num_evaluations[0]] = slot
                wants.num_evaluations[0] += 1
                progress.made[sentence] += 1
                return
            if wanted == SCORE:
                wants.scores[wants.num_scores[0]] = slot
                wants.num_scores[0] += 1
                return
            leaf = progress.leaf[sentence]
            expand(tree, statistics, progress, sentence, leaf, value, rules.max_backup)
            progress.simulations_done[sentence] += 1
            progress.phase[sentence] = SELECTING
        elif progress.simulations_done[sentence] == progress.simulations[sentence]:
            progress.phase[sentence] = DECIDED
            if rules.pause_when_decided:
                return
        else:
            leaf = descend(tree, statistics, progress, sentence, rules)
            if statistics.tree_number[leaf] == progress.tree_number[sentence]:
                revisit(tree, statistics, progress, sentence, leaf, rules)
                progress.simulations_done[sentence] += 1
            else:
                progress.leaf[sentence] = leaf
                progress.rollout[sentence] = leaf
                progress.phase[sentence] = OPENING


@compiled
def advance(
    tree: Tree,
    statistics: Statistics,
    progress: Progress,
    wants: Wants,
    active: Int32,  # [a] sentences
    selected: Bool,  # [a] which of them to run
    rules: Rules,
) -> None:
    """Runs the selected sentences; see `advance_sentence`."""
    for index in range(len(active)):
        if selected[index]:
            advance_sentence(tree, statistics, progress, wants, active[index], rules)
