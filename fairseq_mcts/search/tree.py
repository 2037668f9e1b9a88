"""The prefix tree: everything that was learned about the prefixes of all sentences.

One row ("slot") a prefix, in plain arrays, so that the searches can walk it in compiled code and
an evaluator can keep its own data (keys and values, say) under the same row numbers. Rows that a
search cuts off return to a free list and are used again.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled

NO_NODE = -1
NO_TOKEN = -1

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Rows = TypeVar("Rows", bound=tuple[Any, ...])


class Tree(NamedTuple):
    """N slots, each with up to A actions (the best next tokens, best first)."""

    sentence: Int32  # [N] which sentence the prefix belongs to
    parent: Int32  # [N] the prefix without its last token, NO_NODE for the empty prefix
    token: Int32  # [N] the last token, NO_TOKEN for the empty prefix
    depth: Int32  # [N] number of tokens
    num_children: Int32  # [N] live slots whose parent this is
    action_of_parent: Int32  # [N] which action of the parent leads here
    logprob: Float64  # [N] the model's log-probability of the last token, 0 for the empty prefix
    known: Bool  # [N] whether the network has been asked
    value: Float64  # [N] the network's value of the prefix
    num_actions: Int32  # [N]
    action_token: Int32  # [N, A]
    action_logprob: Float64  # [N, A] the model's own log-probability
    action_weight: Float64  # [N, A] what the search goes by (see Answers.weights)
    child: Int32  # [N, A] slot of the prefix that the action leads to, NO_NODE where there is none
    free: Int32  # [N] a stack of unused slots, its top at free_count - 1
    free_count: Int32  # [1]


def new_tree(capacity: int, num_actions: int) -> Tree:
    """An empty tree with room for `capacity` prefixes."""
    rows, table = (capacity,), (capacity, num_actions)
    return Tree(
        sentence=np.zeros(rows, np.int32),
        parent=np.full(rows, NO_NODE, np.int32),
        token=np.full(rows, NO_TOKEN, np.int32),
        depth=np.zeros(rows, np.int32),
        num_children=np.zeros(rows, np.int32),
        action_of_parent=np.zeros(rows, np.int32),
        logprob=np.zeros(rows, np.float64),
        known=np.zeros(rows, np.bool_),
        value=np.zeros(rows, np.float64),
        num_actions=np.zeros(rows, np.int32),
        action_token=np.full(table, NO_TOKEN, np.int32),
        action_logprob=np.zeros(table, np.float64),
        action_weight=np.zeros(table, np.float64),
        child=np.full(table, NO_NODE, np.int32),
        # the lowest slots are handed out first
        free=np.arange(capacity - 1, -1, -1, dtype=np.int32),
        free_count=np.array([capacity], np.int32),
    )


def enlarged(rows: Rows, capacity: int) -> Rows:
    """The same arrays with `capacity` rows; what the new rows hold is set at their allocation."""
    fields = []
    for field in rows:
        wider = np.zeros((capacity, *field.shape[1:]), field.dtype)
        wider[: len(field)] = field
        fields.append(wider)
    return type(rows)(*fields)


def enlarged_tree(tree: Tree, capacity: int) -> Tree:
    """`tree` with room for `capacity` prefixes; slots keep their numbers."""
    before, count = len(tree.parent), int(tree.free_count[0])
    wider = enlarged(tree, capacity)
    free = np.empty(capacity, np.int32)
    free[: capacity - before] = np.arange(capacity - 1, before - 1, -1, dtype=np.int32)
    free[capacity - before : capacity - before + count] = tree.free[:count]
    return wider._replace(
        free=free, free_count=np.array([capacity - before + count], dtype=np.int32)
    )


@compiled
def allocate(
    tree: Tree,
    sentence: int,
    parent: int,
    action: int,
    token: int,
    logprob: float,
) -> int:
    """A slot for the prefix `parent` + `token`; the caller has made sure that one is free."""
    tree.free_count[0] -= 1
    slot = tree.free[tree.free_count[0]]
    tree.sentence[slot] = sentence
    tree.parent[slot] = parent
    tree.token[slot] = token
    tree.logprob[slot] = logprob
    tree.action_of_parent[slot] = action
    tree.num_children[slot] = 0
    tree.known[slot] = False
    tree.num_actions[slot] = 0
    if parent == NO_NODE:
        tree.depth[slot] = 0
    else:
        tree.depth[slot] = tree.depth[parent] + 1
        tree.num_children[parent] += 1
    return slot


@compiled
def allocate_child(tree: Tree, node: int, action: int) -> int:
    """The slot that `action` leads to from `node`, linked into its parent's row."""
    slot = allocate(
        tree,
        tree.sentence[node],
        node,
        action,
        tree.action_token[node, action],
        tree.action_logprob[node, action],
    )
    tree.child[node, action] = slot
    return slot


@compiled
def release_branch(tree: Tree, node: int) -> None:
    """Frees `node`, and then each ancestor that this leaves without children.

    `node` itself must have no children. Stops below the empty prefix's parent.
    """
    while node != NO_NODE and tree.num_children[node] == 0:
        parent = tree.parent[node]
        tree.free[tree.free_count[0]] = node
        tree.free_count[0] += 1
        if parent != NO_NODE:
            tree.num_children[parent] -= 1
        node = parent


@compiled
def release_subtree(tree: Tree, node: int) -> None:
    """Frees `node` and everything below it that is linked by `child`."""
    parent = tree.parent[node]
    if parent != NO_NODE:
        tree.num_children[parent] -= 1
        tree.child[parent, tree.action_of_parent[node]] = NO_NODE
    # the part of the free list that grows here is the queue of the walk
    position = tree.free_count[0]
    tree.free[tree.free_count[0]] = node
    tree.free_count[0] += 1
    while position < tree.free_count[0]:
        slot = tree.free[position]
        position += 1
        for action in range(tree.num_actions[slot]):
            below = tree.child[slot, action]
            if below != NO_NODE:
                tree.free[tree.free_count[0]] = below
                tree.free_count[0] += 1


@compiled
def write_paths(
    tree: Tree,
    nodes: Int32,  # [n]
    slots: Int32,  # [n, L] out: the prefix's own slots, root first, node last; NO_NODE after it
) -> None:
    """Fills each row with the slots from the empty prefix down to its node."""
    for row in range(len(nodes)):
        node = nodes[row]
        length = tree.depth[node] + 1
        slots[row, length:] = NO_NODE
        for position in range(length - 1, -1, -1):
            slots[row, position] = node
            node = tree.parent[node]


def path_slots(tree: Tree, nodes: Int32) -> Int32:
    """[n, L] slots from the empty prefix to each node, NO_NODE behind the shorter ones."""
    length = int(tree.depth[nodes].max()) + 1 if len(nodes) else 1
    slots = np.empty((len(nodes), length), np.int32)
    write_paths(tree, nodes, slots)
    return slots


def prefix_tokens(tree: Tree, nodes: Int32) -> list[tuple[int, ...]]:
    """The prefixes themselves, as token tuples; the empty prefix is ()."""
    tokens = tree.token[path_slots(tree, nodes)][:, 1:].tolist()  # [n][L - 1]
    return [
        tuple(row[:depth]) for row, depth in zip(tokens, tree.depth[nodes].tolist(), strict=True)
    ]


def num_live(tree: Tree) -> int:
    """How many prefixes are remembered now."""
    return len(tree.parent) - int(tree.free_count[0])
