"""The search tree of one output token, to be looked at from outside before it is cut down."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairseq_mcts.search.mcts_records import Rules, State, Statistics
from fairseq_mcts.search.mcts_rules import choice_name, chosen_action
from fairseq_mcts.search.tree import NO_NODE, Float64, Int32, Tree, prefix_tokens


@dataclass(frozen=True)
class TreeSnapshot:
    """n visited nodes, parents before their children; node 0 is the prefix decoded so far."""

    sentence: int  # its number in the search
    prefix: tuple[int, ...]  # the tokens decoded so far
    parents: Int32  # [n] number of the node above, NO_NODE for node 0
    tokens: Int32  # [n] last token of each prefix, NO_TOKEN if node 0 is the empty one
    priors: Float64  # [n] of these tokens, as the search weighs them; 1 for node 0
    visits: Int32  # [n] 1 + those of all children; a finished sentence counts its own
    values: Float64  # [n] Q: what the backup makes of a node's own value and all below
    # [n] what the network or the metric said of the prefix itself; NaN for unfinished prefixes of
    # searches with rollouts, which ask for neither
    own_values: Float64
    # [n] visits and Q as the parent's row has them, where selection looks; 0 for node 0
    edge_visits: Int32
    edge_values: Float64
    # what the chosen child has most of: "visits" or "value"; "gumbel": of most visited children it
    # is the best by prior, value and noise
    choice: str
    value_range: tuple[float, float]  # least and greatest own value, by which Q is rescaled
    slots: Int32  # [n] where the prefixes are in the prefix tree
    # [c] nodes from the chosen child down: the first is the output token of this step, the others
    # are where the same rule of choice would lead in this tree
    chosen: Int32
    # [n] what each node was worth when it was opened, which is what was backed up
    opened_values: Float64
    # [s] the nodes in which simulations ended, in their order, the root's own opening first; empty
    # if nobody records the search
    landings: Int32

    @property
    def step(self) -> int:
        """The place of the output token that is decided here, from 1."""
        return len(self.prefix) + 1


class TreeWatcher(Protocol):
    """Somebody who wants to see search trees; only those asked for are ever copied."""

    def wants(self, sentence: int, step: int) -> bool:
        """Whether to show the tree that decides the `step`-th token (from 1) of `sentence`."""
        ...

    def see(self, tree: TreeSnapshot) -> None:
        """Takes a tree that was asked for."""
        ...


def take_snapshot(
    tree: Tree, statistics: Statistics, state: State, rules: Rules, landed: Sequence[int] = ()
) -> TreeSnapshot:
    """Copies the search tree of a sentence, all of whose simulations are done.

    `landed` are the slots in which they ended.
    """
    root = int(state["root"])
    slots, parents = _visited_slots(tree, statistics, root)
    below, above = slots[1:], slots[parents[1:]]  # [n - 1] the ends of each edge
    actions = tree.prefixes["action_of_parent"][below]  # [n - 1]
    node_of_slot = {int(slot): node for node, slot in enumerate(slots)}
    chosen = _chosen_slots(tree, statistics, state, rules)
    edges = statistics.children[above, actions]  # [n - 1]
    scored = (tree.token[slots] == rules.eos) & rules.score_finished
    network_values = np.nan if rules.rollouts else tree.value[slots]
    return TreeSnapshot(
        sentence=int(tree.sentence[root]),
        prefix=prefix_tokens(tree, slots[:1])[0],
        parents=parents,
        tokens=tree.token[slots],
        priors=np.concatenate([[1.0], tree.actions["weight"][above, actions]]),
        visits=statistics.nodes["visits"][slots],
        values=statistics.nodes["q"][slots],
        own_values=np.where(scored, statistics.nodes["score"][slots], network_values),
        edge_visits=np.concatenate([np.zeros(1, np.int32), edges["visits"]]),
        edge_values=np.concatenate([[0.0], edges["q"]]),
        choice=choice_name(rules),
        value_range=(float(state["lowest"]), float(state["highest"])),
        slots=slots,
        chosen=np.array([node_of_slot[slot] for slot in chosen], np.int32),
        opened_values=statistics.nodes["own"][slots],
        landings=np.array([node_of_slot[slot] for slot in landed], np.int32),
    )


def _visited_slots(tree: Tree, statistics: Statistics, root: int) -> tuple[Int32, Int32]:
    """[n] slots, level by level, and [n] the places of their parents among them."""
    slots, parents = [root], [NO_NODE]
    for node, slot in enumerate(slots):  # grows while it is walked
        children = statistics.children[slot, : tree.prefixes[slot]["num_actions"]]
        visited = np.flatnonzero(children["visits"])
        slots += tree.actions["child"][slot, visited].tolist()
        parents += [node] * len(visited)
    return np.array(slots, np.int32), np.array(parents, np.int32)


def _chosen_slots(tree: Tree, statistics: Statistics, state: State, rules: Rules) -> list[int]:
    """The slots below the root that the rule of choice leads through, down to a leaf."""
    slots: list[int] = []
    slot = int(state["root"])
    while (action := chosen_action(tree, statistics, state, slot, rules)) >= 0:
        slot = int(tree.actions[slot, action]["child"])
        slots.append(slot)
    return slots
