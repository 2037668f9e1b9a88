"""The rule of what is shown."""

import pytest

from fairseq_mcts.pictures.pruning import Hidden, Pruning, prune
from tests.pictures.trees import by_hand, grown


def test_everything_fits() -> None:
    pruned = prune(by_hand(), Pruning())
    assert pruned.hidden == {}
    # the chosen child first, then the most visited
    assert pruned.children == {
        **{0: [1, 2, 3], 1: [4, 5], 2: [6, 7], 3: [], 4: [], 5: []},
        **{6: [8], 7: [], 8: [9], 9: []},
    }


def test_least_visits() -> None:
    pruned = prune(by_hand(), Pruning(min_visits=3))
    assert pruned.children == {0: [1, 2], 1: [4], 2: [6], 4: [], 6: []}
    # of node 8 only the child itself counts, not what is below it
    assert pruned.hidden == {0: Hidden(1, 1), 1: Hidden(1, 2), 2: Hidden(1, 2), 6: Hidden(1, 2)}


@pytest.mark.parametrize(
    ("max_nodes", "min_visits"), [(10, 1), (9, 2), (7, 2), (6, 3), (4, 3), (3, 4), (1, 7)]
)
def test_number_of_nodes_decides_the_least_visits(max_nodes: int, min_visits: int) -> None:
    """The visits are 12 6 4 3 2 2 2 1 1 1: equals are shown together or not at all."""
    pruned = prune(by_hand(), Pruning(max_nodes=max_nodes))
    assert pruned.min_visits == min_visits
    assert {1, 4} <= pruned.children.keys()  # chosen


def test_depth() -> None:
    pruned = prune(by_hand(), Pruning(depth=1))
    assert pruned.children == {0: [1, 2, 3], 1: [], 2: [], 3: []}
    assert pruned.hidden == {1: Hidden(2, 3), 2: Hidden(2, 5)}


@pytest.mark.parametrize("seed", range(20))
def test_nothing_gets_lost(seed: int) -> None:
    tree = grown(seed, 80)
    pruned = prune(tree, Pruning(max_nodes=12, depth=4))
    chosen = set(tree.chosen[:4])
    assert chosen <= pruned.children.keys()
    assert len(pruned.children.keys() - chosen) <= 12
    for number, shown in pruned.children.items():
        below = [one for one, node in enumerate(tree.nodes) if node.parent == number]
        hidden = pruned.hidden.get(number, Hidden(0, 0))
        assert len(shown) + hidden.children == len(below)
        visits = sum(tree.nodes[one].visits for one in shown) + hidden.visits
        assert visits == sum(tree.nodes[one].visits for one in below)
