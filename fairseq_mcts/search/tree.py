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
Records = NDArray[Any]  # of a structured type
Rows = TypeVar("Rows", bound=tuple[Any, ...])


# What is known of a prefix. Records, not one array a field: compiled code then receives few
# arrays (each costs time at every call), and a walk finds what it reads side by side.
PREFIX = np.dtype(
    [
        ("value", np.float64),  # the network's value of the prefix
        (
            "logprob",
            np.float64,
        ),  # the model's log-probability of the last token; 0 if there is none
        ("sentence", np.int32),  # which sentence the prefix belongs to
        ("parent", np.int32),  # the prefix without its last token, NO_NODE for the empty prefix
        ("token", np.int32),  # the last token, NO_TOKEN for the empty prefix
        ("depth", np.int32),  # number of tokens
        ("num_children", np.int32),  # live slots whose parent this is
        ("action_of_parent", np.int32),  # which action of the parent leads here
        ("num_actions", np.int32),
        ("known", np.bool_),  # whether the network has been asked
        ("has_policy", np.bool_),  # whether its answer about next tokens has been read
    ],
    align=True,
)
# One of the best next tokens after a prefix.
ACTION = np.dtype(
    [
        ("weight", np.float64),  # what the search goes by (see Answers.weights)
        ("logprob", np.float64),  # the model's own log-probability
        ("token", np.int32),
        ("child", np.int32),  # slot of the prefix that it leads to, NO_NODE where there is none
    ],
    align=True,
)


class Tree(NamedTuple):
    """N slots, each with up to A actions, best first.

    Compiled code reads the records, numpy code the columns that the properties show.
    """

    prefixes: Records  # [N] of PREFIX
    actions: Records  # [N, A] of ACTION
    free: Int32  # [N] a stack of unused slots, its top at free_count - 1
    free_count: Int32  # [1]

    @property
    def capacity(self) -> int:
        """N"""
        return len(self.prefixes)

    @property
    def sentence(self) -> Int32:
        """[N]"""
        return self.prefixes["sentence"]

    @property
    def parent(self) -> Int32:
        """[N]"""
        return self.prefixes["parent"]

    @property
    def token(self) -> Int32:
        """[N]"""
        return self.prefixes["token"]

    @property
    def depth(self) -> Int32:
        """[N]"""
        return self.prefixes["depth"]

    @property
    def logprob(self) -> Float64:
        """[N]"""
        return self.prefixes["logprob"]

    @property
    def value(self) -> Float64:
        """[N]"""
        return self.prefixes["value"]


def new_tree(capacity: int, num_actions: int) -> Tree:
    """An empty tree with room for `capacity` prefixes; their records are set at allocation."""
    return Tree(
        prefixes=np.zeros(capacity, PREFIX),
        actions=np.zeros((capacity, num_actions), ACTION),
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
    before, count = tree.capacity, int(tree.free_count[0])
    wider = enlarged(tree, capacity)
    free = np.empty(capacity, np.int32)
    free[: capacity - before] = np.arange(capacity - 1, before - 1, -1, dtype=np.int32)
    free[capacity - before : capacity - before + count] = tree.free[:count]
    return wider._replace(
        free=free, free_count=np.array([capacity - before + count], dtype=np.int32)
    )


@compiled
def allocate(
    tree: Tree, sentence: int, parent: int, action: int, token: int, logprob: float
) -> int:
    """A slot for the prefix `parent` + `token`; the caller has made sure that one is free."""
    tree.free_count[0] -= 1
    slot = tree.free[tree.free_count[0]]
    prefix = tree.prefixes[slot]
    prefix.sentence = sentence
    prefix.parent = parent
    prefix.token = token
    prefix.logprob = logprob
    prefix.action_of_parent = action
    prefix.num_children = 0
    prefix.num_actions = 0
    prefix.known = False
    prefix.has_policy = False
    prefix.depth = 0
    if parent != NO_NODE:
        prefix.depth = tree.prefixes[parent].depth + 1
        tree.prefixes[parent].num_children += 1
    return slot


@compiled
def allocate_child(tree: Tree, node: int, action: int) -> int:
    """The slot that `action` leads to from `node`, linked into its parent's row."""
    slot = allocate(
        tree,
        tree.prefixes[node].sentence,
        node,
        action,
        tree.actions[node, action].token,
        tree.actions[node, action].logprob,
    )
    tree.actions[node, action].child = slot
    return slot


@compiled
def release_branch(tree: Tree, node: int) -> None:
    """Frees `node`, and then each ancestor that this leaves without children.

    `node` itself must have no children. Stops below the empty prefix's parent.
    """
    while node != NO_NODE and tree.prefixes[node].num_children == 0:
        parent = tree.prefixes[node].parent
        tree.free[tree.free_count[0]] = node
        tree.free_count[0] += 1
        if parent != NO_NODE:
            tree.prefixes[parent].num_children -= 1
        node = parent


@compiled
def release_subtree(tree: Tree, node: int) -> None:
    """Frees `node` and everything below it that is linked by `child`."""
    parent = tree.prefixes[node].parent
    if parent != NO_NODE:
        tree.prefixes[parent].num_children -= 1
        tree.actions[parent, tree.prefixes[node].action_of_parent].child = NO_NODE
    # the part of the free list that grows here is the queue of the walk
    position = tree.free_count[0]
    tree.free[tree.free_count[0]] = node
    tree.free_count[0] += 1
    while position < tree.free_count[0]:
        slot = tree.free[position]
        position += 1
        for action in range(tree.prefixes[slot].num_actions):
            below = tree.actions[slot, action].child
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
        length = tree.prefixes[node].depth + 1
        slots[row, length:] = NO_NODE
        for position in range(length - 1, -1, -1):
            slots[row, position] = node
            node = tree.prefixes[node].parent


def path_slots(tree: Tree, nodes: Int32) -> Int32:
    """[n, L] slots from the empty prefix to each node, NO_NODE behind the shorter ones."""
    length = int(tree.depth[nodes].max()) + 1 if len(nodes) else 1
    slots = np.empty((len(nodes), length), np.int32)
    write_paths(tree, nodes, slots)
    return slots


def prefix_tokens(tree: Tree, nodes: Int32) -> list[tuple[int, ...]]:
    """The prefixes themselves, as token tuples; the empty prefix is ()."""
    if not len(nodes):
        return []
    tokens = tree.token[path_slots(tree, nodes)][:, 1:].tolist()  # [n][L - 1]
    return [
        tuple(row[:depth]) for row, depth in zip(tokens, tree.depth[nodes].tolist(), strict=True)
    ]
