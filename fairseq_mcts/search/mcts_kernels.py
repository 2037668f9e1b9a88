"""The walks of MCTS through the prefix tree: select, expand, back up, choose; compiled.

Each output token gets a fresh search tree, as in the paper, laid over the prefix tree that lives
on: statistics count from zero, but a prefix that was evaluated for an earlier token is not
evaluated again. A sentence runs on through as many simulations and tokens as it can without the
network, so one call ends with every sentence waiting for something, or finished.

Of a leaf only the value is needed. Its policy, whose output layer costs about as much as the rest
of a small decoder, is wanted when a later simulation comes through, which more than a third of all
leaves never see.
"""

import math

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.mcts_records import (
    DECIDED,
    EVALUATION,
    FINISHED,
    LANDED,
    NOTHING,
    OPENING,
    OTHERS,
    SCORE,
    SELECTING,
    Leaf,
    Rules,
    State,
    Statistics,
)
from fairseq_mcts.search.mcts_rules import (
    chosen_action,
    select_at_root,
    select_below_root,
    update_q,
)
from fairseq_mcts.search.tree import NO_NODE, Int32, Records, Tree, allocate_child, release_subtree


@compiled
def forget(statistics: Statistics, slot: int) -> None:
    """Nothing is known of the slot's prefix, whatever was there before it."""
    node = statistics.nodes[slot]
    node.tree_number = 0
    node.in_flight = 0
    node.guessed = False
    node.score = math.nan


@compiled
def new_node(tree: Tree, statistics: Statistics, parent: int, action: int) -> int:
    """The slot that `action` leads to, of which nothing is known yet."""
    child = allocate_child(tree, parent, action)
    forget(statistics, child)
    return child


@compiled
def descend(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> tuple[int, bool]:
    """One selection from the root: (the slot where it ends, unvisited so far or finished, True),
    or (a slot on the way whose policy must be read first, False)."""
    node = state.root
    number = state.tree_number
    if not tree.prefixes[node].has_policy:
        return node, False
    action = select_at_root(tree, statistics, state, rules)
    while True:
        child = tree.actions[node, action].child
        if child == NO_NODE:
            child = new_node(tree, statistics, node, action)
        if statistics.nodes[child].tree_number != number or tree.prefixes[child].token == rules.eos:
            return child, True
        node = child
        if not tree.prefixes[node].has_policy:
            return node, False
        action = select_below_root(tree, statistics, state, node, rules)


@compiled
def add_in_flight(tree: Tree, statistics: Statistics, leaf: int, root: int, change: int) -> None:
    """Counts `leaf` as in flight (1) or no longer so (-1), at itself and at all its ancestors."""
    slot = leaf
    while slot != root:
        parent = tree.prefixes[slot].parent
        statistics.nodes[slot].in_flight += change
        statistics.children[parent, tree.prefixes[slot].action_of_parent].in_flight += change
        slot = parent
    statistics.nodes[root].in_flight += change


@compiled
def back_up(
    tree: Tree, statistics: Statistics, state: State, leaf: int, value: float, rules: Rules
) -> None:
    """Carries the value of `leaf`, whose own statistics are up to date, to all its ancestors."""
    slot = leaf
    while slot != state.root:
        node = statistics.nodes[slot]
        parent_slot = tree.prefixes[slot].parent
        beside_siblings = statistics.children[parent_slot, tree.prefixes[slot].action_of_parent]
        beside_siblings.visits = node.visits
        beside_siblings.q = node.q
        statistics.nodes[parent_slot].visits += 1
        update_q(tree, statistics, state, parent_slot, value, rules)
        slot = parent_slot


@compiled
def expand(
    tree: Tree, statistics: Statistics, state: State, leaf: int, value: float, rules: Rules
) -> None:
    """Makes `leaf` a node of the current search tree and backs its value up."""
    node = statistics.nodes[leaf]
    node.tree_number = state.tree_number
    node.visits = 1
    node.q = value
    node.own = value
    for action in range(statistics.children.shape[1]):  # how many it has may not be known yet
        statistics.children[leaf, action].visits = 0
        statistics.children[leaf, action].in_flight = 0
    state.lowest = min(state.lowest, value)
    state.highest = max(state.highest, value)
    back_up(tree, statistics, state, leaf, value, rules)


@compiled
def revisit(tree: Tree, statistics: Statistics, state: State, leaf: int, rules: Rules) -> None:
    """Backs the value of an already visited finished sentence up once more."""
    statistics.nodes[leaf].visits += 1
    back_up(tree, statistics, state, leaf, statistics.nodes[leaf].q, rules)


@compiled
def follow_rollout(tree: Tree, statistics: Statistics, leaf: Leaf, eos: int) -> int:
    """Walks the greedy completion on as far as it is known; what it waits for, if anything."""
    node = leaf.rollout
    while tree.prefixes[node].token != eos:
        if not tree.prefixes[node].known:
            leaf.rollout = node
            return EVALUATION
        child = tree.actions[node, 0].child
        if child == NO_NODE:
            child = new_node(tree, statistics, node, 0)
        node = child
    leaf.rollout = node
    return SCORE if math.isnan(statistics.nodes[node].score) else NOTHING


@compiled
def open_leaf(
    tree: Tree, statistics: Statistics, state: State, leaf: Leaf, rules: Rules
) -> tuple[int, int, float]:
    """(NOTHING, -, the leaf's value), or (what is wanted, for which slot, -)."""
    slot = leaf.slot
    prefix, node = tree.prefixes[slot], statistics.nodes[slot]
    visited = node.tree_number == state.tree_number  # a finished sentence once more
    if prefix.token == rules.eos and (visited or rules.score_finished):
        value = node.q if visited else node.score
        return SCORE if math.isnan(value) else NOTHING, slot, value
    if not prefix.known:
        return EVALUATION, slot, 0.0
    if not rules.rollouts:
        state.made += node.guessed
        node.guessed = False
        return NOTHING, slot, prefix.value
    wanted = follow_rollout(tree, statistics, leaf, rules.eos)
    end = leaf.rollout
    if wanted != NOTHING:
        return wanted, end, 0.0
    state.charged += tree.prefixes[end].depth - prefix.depth
    return NOTHING, slot, statistics.nodes[end].score


@compiled
def open_leaves(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    rules: Rules,
) -> bool:
    """Opens the leaves as far as what is known allows; whether all of them are open."""
    all_open = True
    for index in range(state.num_leaves):
        leaf = leaves[index]
        if leaf.wanted == NOTHING:
            continue  # opened before
        wanted, slot, value = open_leaf(tree, statistics, state, leaf, rules)
        leaf.wanted = wanted
        leaf.wanted_slot = slot
        if wanted == NOTHING:
            leaf.value = value
            continue
        all_open = False
        for earlier in range(index):
            if leaves[earlier].wanted == wanted and leaves[earlier].wanted_slot == slot:
                leaf.wanted = OTHERS
        state.made += leaf.wanted == EVALUATION
    return all_open


@compiled
def land_leaves(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    rules: Rules,
) -> None:
    """Backs the values of the opened leaves up, in the order of their selection."""
    for index in range(state.num_leaves):
        slot = leaves[index].slot
        add_in_flight(tree, statistics, slot, state.root, -1)
        state.charged += 1
        if statistics.nodes[slot].tree_number == state.tree_number:
            revisit(tree, statistics, state, slot, rules)
        else:
            expand(tree, statistics, state, slot, leaves[index].value, rules)
        state.simulations_done += 1
    state.num_leaves = 0


@compiled
def select_leaves(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    rules: Rules,
) -> int:
    """Selects the leaves of the next simulations, each under the virtual loss of those before.

    There are fewer than wanted if one is met that has been selected already. If a selection comes
    to a slot without a policy, that slot; when it has one, the same selection is made once more.
    """
    left = min(rules.leaves, state.simulations - state.simulations_done)
    while state.num_leaves < left:
        slot, is_leaf = descend(tree, statistics, state, rules)
        if not is_leaf:
            return slot
        node = statistics.nodes[slot]
        if node.in_flight > 0 and node.tree_number != state.tree_number:
            break
        add_in_flight(tree, statistics, slot, state.root, 1)
        add_leaf(state, leaves, slot)
    return NO_NODE


@compiled
def add_leaf(
    state: State,
    leaves: Records,  # [L] of LEAF
    slot: int,
) -> None:
    """Lets the sentence open one more leaf."""
    leaf = leaves[state.num_leaves]
    leaf.slot = slot
    leaf.rollout = slot
    leaf.wanted = EVALUATION  # or something else; nothing would mean that it is open
    state.num_leaves += 1


@compiled
def start_tree(
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    root: int,
) -> None:
    """A fresh search tree; its root is opened like any leaf, from memory if it is known."""
    state.root = root
    state.tree_number += 1
    state.simulations_done = -1  # the root's own opening makes it 0
    state.lowest = math.inf
    state.highest = -math.inf
    state.num_leaves = 0
    statistics.nodes[root].in_flight = 1
    add_leaf(state, leaves, root)
    state.phase = OPENING


@compiled
def commit(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    rules: Rules,
) -> None:
    """Makes the chosen child the new root and frees its siblings' subtrees."""
    root = state.root
    action = chosen_action(tree, statistics, state, root, rules)
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
        start_tree(statistics, state, leaves, chosen)


@compiled
def advance_sentence(
    tree: Tree,
    statistics: Statistics,
    state: State,
    leaves: Records,  # [L] of LEAF
    rules: Rules,
) -> int:
    """Runs one sentence until it waits for the network or a score, pauses, or is finished; the
    slot whose policy it waits for, if that is what it waits for."""
    while state.phase != FINISHED:
        if state.phase == DECIDED:
            commit(tree, statistics, state, leaves, rules)
        elif state.phase == OPENING:
            if not open_leaves(tree, statistics, state, leaves, rules):
                return NO_NODE
            land_leaves(tree, statistics, state, leaves, rules)
            state.phase = SELECTING
            if rules.pause_when_landed:
                state.phase = LANDED
                return NO_NODE
        elif state.phase == LANDED:
            state.phase = SELECTING
        elif state.simulations_done == state.simulations:
            state.phase = DECIDED
            if rules.pause_when_decided:
                return NO_NODE
        else:
            unread = select_leaves(tree, statistics, state, leaves, rules)
            if unread != NO_NODE:
                return unread
            state.phase = OPENING
    return NO_NODE


@compiled
def advance(
    tree: Tree,
    statistics: Statistics,
    states: Records,  # [S] of STATE
    leaves: Records,  # [S, L] of LEAF
    sentences: Int32,  # [s] which of them to run
    rules: Rules,
    unread: Int32,  # [s] out: slots whose policies are waited for
) -> int:
    """Runs some sentences, see `advance_sentence`; how many of them wait for a policy."""
    count = 0
    for sentence in sentences:
        slot = advance_sentence(tree, statistics, states[sentence], leaves[sentence], rules)
        if slot != NO_NODE:
            unread[count] = slot
            count += 1
    return count


@compiled
def num_finished(states: Records, active: Int32) -> int:  # [S], [a]
    """How many active sentences are; asked at every call of the network, so no numpy."""
    count = 0
    for sentence in active:
        if states[sentence].phase == FINISHED:
            count += 1
    return count


@compiled
def write_wanted(
    states: Records,  # [S] of STATE
    leaves: Records,  # [S, L] of LEAF
    sentences: Int32,  # [s] which of them to ask
    wanted: int,  # EVALUATION or SCORE
    slots: Int32,  # [s * L] out
) -> int:
    """The slots that the leaves of some sentences wait for; how many there are."""
    count = 0
    for sentence in sentences:
        for place in range(states[sentence].num_leaves):
            leaf = leaves[sentence, place]
            if leaf.wanted == wanted:
                slots[count] = leaf.wanted_slot
                count += 1
    return count
