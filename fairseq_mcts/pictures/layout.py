"""Where everything of a tree's picture goes: plain geometry, in inches, y growing downwards.

The tree grows to the right like the text it spells. A node's first child, the chosen or most
visited one, continues its row, so the chosen path is a straight line on top; every further child
starts a row of its own. Tokens stand in columns of their own between those of the boxes, and edges
bend only in the gaps between boxes and tokens: nothing can overlap.
"""

from dataclasses import dataclass

from fairseq_mcts.pictures.captions import TextWidth, rest_text, token_label
from fairseq_mcts.pictures.pruning import Hidden, PrunedTree

ROW = 0.29  # height of a row
BEND = 0.3  # width of the gap in which edges bend
MARGIN = 0.07  # around a text


@dataclass(frozen=True)
class PlacedNode:
    """A box with the edge that leads to it; the root has no edge."""

    number: int  # of the node
    left: float
    row: float  # middle of the row


@dataclass(frozen=True)
class PlacedRest:
    """A remark about hidden children, at the end of an edge of its own."""

    parent: int
    hidden: Hidden
    left: float  # of the text
    row: float


@dataclass(frozen=True)
class Layout:
    """A picture's parts; the root's box begins at x = 0, its row at y = 0."""

    nodes: dict[int, PlacedNode]
    rests: list[PlacedRest]
    box_width: float
    width: float
    height: float


def lay_out(pruned: PrunedTree, box_width: float, text_width: TextWidth) -> Layout:
    """Places the shown nodes; `text_width` measures tokens and remarks."""
    depths = pruned.tree.depths()
    lefts = [0.0]  # of the boxes, by depth
    for token_width in _token_widths(pruned, depths, box_width, text_width):
        lefts.append(lefts[-1] + box_width + BEND + token_width)
    nodes: dict[int, PlacedNode] = {}
    rests: list[PlacedRest] = []
    rows = 0
    # depth first; each entry is a node, or the parent of a rest, and whether it continues a row
    waiting: list[tuple[int, bool, bool]] = [(0, False, True)]
    while waiting:
        number, is_rest, continues = waiting.pop()
        if not continues:
            rows += 1
        row = (rows + 0.5) * ROW
        left = lefts[depths[number]]
        if is_rest:
            text_left = left + box_width + BEND + MARGIN
            rests.append(PlacedRest(number, pruned.hidden[number], text_left, row))
            continue
        nodes[number] = PlacedNode(number, left, row)
        below = [(child, False) for child in pruned.children[number]]
        if number in pruned.hidden:
            below.append((number, True))
        waiting += reversed([(*one, place == 0) for place, one in enumerate(below)])
    ends = [node.left + box_width for node in nodes.values()]
    ends += [rest.left + text_width(rest_text(rest.hidden)) for rest in rests]
    return Layout(nodes, rests, box_width, max(ends), (rows + 1) * ROW)


def _token_widths(
    pruned: PrunedTree, depths: list[int], box_width: float, text_width: TextWidth
) -> list[float]:
    """Room for the tokens that lead to depth 1, 2, …; remarks may use that of the boxes too."""
    widths = [0.0] * max(depths[number] for number in pruned.children)
    for number in pruned.children:
        depth = depths[number]
        if number:
            needed = text_width(token_label(pruned.tree.nodes[number].piece)) + 2 * MARGIN
            widths[depth - 1] = max(widths[depth - 1], needed)
        if number in pruned.hidden and depth < len(widths):
            needed = text_width(rest_text(pruned.hidden[number])) + 2 * MARGIN - box_width
            widths[depth] = max(widths[depth], needed)
    return widths
