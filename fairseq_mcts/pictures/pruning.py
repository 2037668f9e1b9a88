"""Which nodes of a search tree a picture shows: the rule, and what it leaves out."""

from dataclasses import dataclass

from fairseq_mcts.pictures.tree_file import SearchTree

DEFAULT_MAX_NODES = 30
DEFAULT_DEPTH = 8


@dataclass(frozen=True)
class Pruning:
    """A picture shows the root, and every other node that

    - is at most `depth` tokens below the root, and
    - has at least `min_visits` visits or lies on the chosen path.

    `min_visits` None stands for the least number that at most `max_nodes` nodes reach. A parent
    has more visits than its child, so no node is ever shown without its parent.
    """

    max_nodes: int = DEFAULT_MAX_NODES
    min_visits: int | None = None
    depth: int = DEFAULT_DEPTH


@dataclass(frozen=True)
class Hidden:
    """Children that a node has, but the picture does not show."""

    children: int
    visits: int


@dataclass(frozen=True)
class PrunedTree:
    """What is shown of a tree."""

    tree: SearchTree
    min_visits: int  # that a node off the chosen path needed
    depth: int  # of the deepest nodes that could be shown
    # every shown node, with its shown children: the chosen one first, then the most visited
    children: dict[int, list[int]]
    hidden: dict[int, Hidden]  # of the shown nodes that have hidden children


def prune(tree: SearchTree, rule: Pruning) -> PrunedTree:
    """Chooses what the rule shows of a tree."""
    depths = tree.depths()
    chosen = set(tree.chosen)
    min_visits = rule.min_visits
    if min_visits is None:
        within = [number for number, depth in enumerate(depths) if depth <= rule.depth]
        visits = sorted((tree.nodes[number].visits for number in within), reverse=True)
        too_many = visits[rule.max_nodes :]
        min_visits = too_many[0] + 1 if too_many else 1
    children: dict[int, list[int]] = {0: []}
    hidden: dict[int, Hidden] = {}
    for number, node in enumerate(tree.nodes[1:], start=1):
        if node.parent not in children:
            continue
        if depths[number] <= rule.depth and (node.visits >= min_visits or number in chosen):
            children[number] = []
            children[node.parent].append(number)
        else:
            before = hidden.get(node.parent, Hidden(0, 0))
            hidden[node.parent] = Hidden(before.children + 1, before.visits + node.visits)
    for siblings in children.values():
        siblings.sort(key=lambda one: (one not in chosen, -tree.nodes[one].visits, one))
    return PrunedTree(tree, min_visits, rule.depth, children, hidden)
