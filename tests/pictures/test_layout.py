"""Nothing overlaps, whatever the tree."""

from itertools import combinations

import pytest

from fairseq_mcts.pictures.captions import rest_text, token_label
from fairseq_mcts.pictures.layout import BEND, MARGIN, ROW, Layout, lay_out
from fairseq_mcts.pictures.pruning import PrunedTree, Pruning, prune
from tests.pictures.trees import by_hand, grown

BOX = 0.7


def text_width(text: str) -> float:
    return 0.08 * len(text)


def extents(pruned: PrunedTree, layout: Layout) -> list[tuple[float, float, float]]:
    """(left, right, row) of every box, token and remark, and of the gaps in which edges bend."""
    found = []
    for node in layout.nodes.values():
        found.append((node.left, node.left + BOX, node.row))
        if node.number:
            parent = layout.nodes[pruned.tree.nodes[node.number].parent]
            token = parent.left + BOX + BEND + MARGIN
            width = text_width(token_label(pruned.tree.nodes[node.number].piece))
            assert token + width + MARGIN <= node.left + 1e-9
            found.append((token, token + width, node.row))
    for rest in layout.rests:
        found.append((rest.left, rest.left + text_width(rest_text(rest.hidden)), rest.row))
    return found


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("rule", [Pruning(), Pruning(min_visits=1, depth=99), Pruning(8, None, 3)])
def test_nothing_overlaps(seed: int, rule: Pruning) -> None:
    pruned = prune(grown(seed, 70), rule)
    layout = lay_out(pruned, BOX, text_width)
    parts = extents(pruned, layout)
    for one, other in combinations(parts, 2):
        apart = one[1] <= other[0] + 1e-9 or other[1] <= one[0] + 1e-9
        assert apart or abs(one[2] - other[2]) >= ROW - 1e-9
    assert max(right for _, right, _ in parts) == pytest.approx(layout.width)
    assert min(row for _, _, row in parts) == pytest.approx(ROW / 2)
    assert max(row for _, _, row in parts) == pytest.approx(layout.height - ROW / 2)
    # edges bend where no box, token or remark of any row stands
    for node in layout.nodes.values():
        if pruned.children[node.number] or node.number in pruned.hidden:
            gap = node.left + BOX, node.left + BOX + BEND
            assert all(right <= gap[0] + 1e-9 or left >= gap[1] - 1e-9 for left, right, _ in parts)


def test_chosen_path_is_the_first_row() -> None:
    pruned = prune(by_hand(), Pruning(min_visits=2))
    layout = lay_out(pruned, BOX, text_width)
    rows = {number: round(node.row / ROW - 0.5) for number, node in layout.nodes.items()}
    #  0 1 4
    #      5
    #    2 6 8 rest
    #      7
    #    rest
    assert rows == {0: 0, 1: 0, 4: 0, 5: 1, 2: 2, 6: 2, 8: 2, 7: 3}
    assert [(rest.parent, round(rest.row / ROW - 0.5)) for rest in layout.rests] == [(8, 2), (0, 4)]
