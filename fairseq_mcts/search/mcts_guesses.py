"""Guesses of the prefixes that MCTS will want next; compiled.

When few sentences are left, each call of the network would hold a prefix or two. It takes little
longer for some more, so it gets guesses. A right one is a call saved, a wrong one changes nothing;
most are right, for one value more seldom turns the next selections round.
"""

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.mcts_kernels import add_in_flight, descend
from fairseq_mcts.search.mcts_records import Rules, State, Statistics
from fairseq_mcts.search.tree import Int32, Records, Tree

TRIES = 2  # selections that may be made for each guess


@compiled
def guess_leaves(
    tree: Tree,
    statistics: Statistics,
    state: State,
    rules: Rules,
    most_tries: int,
    guesses: Int32,  # [g] out
) -> tuple[int, int]:
    """Slots that the next simulations will probably want to be evaluated; how many there are, and
    how many selections were made for them, each of which may have created a prefix.

    They are selected as if the simulations before them had brought nothing (under their virtual
    loss), and the search tree is left as it was.
    """
    left = state.simulations - state.simulations_done - state.num_leaves
    tries = min(most_tries, max(left, 0))
    tried = np.empty(tries, np.int32)
    count = 0
    num_tried = 0
    while num_tried < tries and count < len(guesses):
        slot, is_leaf = descend(tree, statistics, state, rules)
        if not is_leaf:
            break
        new = statistics.nodes[slot].in_flight == 0 and not tree.prefixes[slot].known
        if new and not (rules.score_finished and tree.prefixes[slot].token == rules.eos):
            guesses[count] = slot
            statistics.nodes[slot].guessed = True
            count += 1
        add_in_flight(tree, statistics, slot, state.root, 1)
        tried[num_tried] = slot
        num_tried += 1
    for index in range(num_tried):
        add_in_flight(tree, statistics, tried[index], state.root, -1)
    return count, num_tried


@compiled
def add_guesses(
    tree: Tree,
    statistics: Statistics,
    states: Records,  # [S] of STATE
    rules: Rules,
    wanted: Int32,  # [w] slots, those of a sentence side by side
    slots: Int32,  # [n] out: the same, each sentence's followed by guesses
) -> int:
    """Fills `slots` with guesses as far as there are any, the same number for each sentence; how
    many slots there are then. At most TRIES n prefixes are created."""
    room = len(slots) - len(wanted)
    tries = TRIES * len(slots)
    waiting = 0  # sentences that have not got their guesses yet
    for place in range(len(wanted)):
        waiting += is_last_of_sentence(tree, wanted, place)
    count = 0
    for place in range(len(wanted)):
        slots[count] = wanted[place]
        count += 1
        if not is_last_of_sentence(tree, wanted, place):
            continue
        share = -(-room // waiting)  # what one sentence leaves of it goes to the others
        found, tried = guess_leaves(
            tree,
            statistics,
            states[tree.prefixes[wanted[place]].sentence],
            rules,
            min(tries, TRIES * share),
            slots[count : count + share],
        )
        count += found
        room -= found
        tries -= tried
        waiting -= 1
    return count


@compiled
def is_last_of_sentence(tree: Tree, slots: Int32, place: int) -> bool:
    """Whether the slot behind this one belongs to another sentence, or there is none."""
    if place + 1 == len(slots):
        return True
    return tree.prefixes[slots[place]].sentence != tree.prefixes[slots[place + 1]].sentence
