"""What MCTS remembers: of nodes of its search trees, of sentences, of leaves being opened.

Records, which the compiled walks of `mcts_kernels` read and write.
"""

from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.search.tree import Records

# phases of a sentence
OPENING = 0  # leaves are being opened: evaluations, rollouts or scores may be outstanding
SELECTING = 1  # the next simulations start at the root; they may wait for a policy
DECIDED = 2  # all simulations are done; the tree is whole and can be looked at
FINISHED = 3
LANDED = 4  # a pause after leaves were opened, where somebody notes in which order they are

# what a leaf waits for
NOTHING = 0
EVALUATION = 1
SCORE = 2
OTHERS = 3  # another leaf of the sentence has asked for the same

# What the search tree of the current token says of a slot.
NODE = np.dtype(
    [
        ("q", np.float64),  # what the backup makes of the slot's own value and of all below it
        ("own", np.float64),  # the slot's own value: the network's, or the metric of its completion
        ("score", np.float64),  # the metric of a finished sentence, NaN: not asked for yet
        ("tree_number", np.int32),  # the search tree these belong to; any other: unvisited
        ("visits", np.int32),  # 1 + the visits of all children
        ("visits_when_chosen", np.int32),  # of committed slots, which are roots of their own since
        ("in_flight", np.int32),  # leaves at or below it whose values are outstanding
        ("guessed", np.bool_),  # evaluated before it was wanted, which it has not been yet
    ],
    align=True,
)
# The same of an action's child, beside its siblings, where selection looks.
CHILD = np.dtype(
    [
        ("q", np.float64),  # read only if visits > 0
        ("visits", np.int32),
        ("in_flight", np.int32),
    ],
    align=True,
)

# Where a sentence stands.
STATE = np.dtype(
    [
        ("lowest", np.float64),  # least value of a node in the current search tree
        ("highest", np.float64),
        ("charged", np.int64),
        ("made", np.int64),
        ("seed", np.int64),  # of noise at the root
        ("phase", np.int32),
        ("root", np.int32),  # slot of the tokens committed so far
        ("tree_number", np.int32),  # counts the output tokens, from 1
        ("simulations", np.int32),  # wanted per output token
        ("simulations_done", np.int32),
        ("num_leaves", np.int32),  # being opened
    ],
    align=True,
)
State = Any  # one record of STATE

# A leaf that is being opened.
LEAF = np.dtype(
    [
        ("value", np.float64),  # once nothing is wanted any more
        ("slot", np.int32),
        ("rollout", np.int32),  # how far its greedy completion has come
        ("wanted", np.int32),  # what it waits for
        ("wanted_slot", np.int32),  # of which slot
    ],
    align=True,
)
Leaf = Any  # one record of LEAF


class Statistics(NamedTuple):
    """What the search trees say of N slots, each with A actions."""

    nodes: Records  # [N] of NODE
    children: Records  # [N, A] of CHILD


class Rules(NamedTuple):
    """The options that the walks read."""

    eos: int
    c_puct: float
    root: int  # these four are codes of `mcts_rules`
    below_root: int
    backup: int
    choose: int
    power: float  # of the backup that is a power mean
    gumbel_actions: int  # these four are read by `mcts_gumbel`
    gumbel_scale: float
    c_visit: float
    c_scale: float
    rollouts: bool
    score_finished: bool
    pause_when_decided: bool
    pause_when_landed: bool
    leaves: int  # at most so many are opened at once
