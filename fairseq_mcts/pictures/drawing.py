"""Draws search trees with matplotlib, which nothing else of the package needs."""

import logging
import unicodedata
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairseq_mcts.pictures import captions
from fairseq_mcts.pictures.layout import BEND, MARGIN, ROW, PlacedNode, lay_out
from fairseq_mcts.pictures.pruning import PrunedTree, Pruning, prune
from fairseq_mcts.pictures.tree_file import SearchTree

FORMATS = (".svg", ".pdf", ".png")

_POINTS = 9.0  # size of the letters
_POINTS_PER_INCH = 72.0
_PIXELS_PER_INCH = 150  # of a PNG
_FONTS = ["DejaVu Sans", "sans-serif"]  # the first comes with matplotlib, the last is any other
# in inches
_FRAME = 0.25  # around the whole picture
_LINE = 0.19  # height of a line of text above or below the tree
_BOX = 0.22  # height of a box
_LIFT = 0.06  # of tokens above their edges
_LEAST_WIDTH = 6.5

_CHOSEN = "#b8400b"
_EDGE = "#555555"
_FAINT = "#707070"
# of the lowest and the highest value: black letters stay readable on both, and a grey print keeps
# their order
_LOWEST_FILL = (0.98, 0.98, 1.0)
_HIGHEST_FILL = (0.47, 0.69, 0.88)


def require_matplotlib() -> None:
    """Raises an ImportError that says what to install."""
    logger = logging.getLogger("matplotlib")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)  # fairseq's commands log everything: pages about fonts
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "pictures of trees need matplotlib: pip install 'fairseq_mcts[report]'"
        ) from error


def draw_tree(tree: SearchTree, path: Path, rule: Pruning | None = None) -> None:
    """Draws what `rule` shows of `tree`; the ending of `path` is one of FORMATS."""
    require_matplotlib()
    import matplotlib

    settings: dict[Any, Any] = {
        # letters stay letters: they can be searched, and viewers know more scripts than one font
        "svg.fonttype": "none",
        "svg.hashsalt": "fairseq_mcts",  # the same tree gives the same file
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        if path.suffix == ".svg":  # whoever shows the picture has the letters that are missing here
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = tree_figure(tree, rule or Pruning())
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=_PIXELS_PER_INCH, metadata=metadata)


def tree_figure(tree: SearchTree, rule: Pruning) -> Any:
    """The picture as a matplotlib Figure."""
    return _TreeDrawing(prune(tree, rule)).figure


class _TreeDrawing:
    """The figure of one tree; its axes are in inches, with the root's row at the top left."""

    def __init__(self, pruned: PrunedTree) -> None:
        from matplotlib.figure import Figure

        self._tree = pruned.tree
        shown = [self._tree.nodes[number] for number in pruned.children]
        values = [node.value for node in shown]
        self._lowest, self._highest = min(values), max(values)
        value_texts = captions.value_texts(values)
        self._value_texts = dict(zip(pruned.children, value_texts, strict=True))
        visits_width = max(_text_width(str(node.visits), bold=True) for node in shown)
        box_width = visits_width + max(map(_text_width, value_texts)) + 3 * MARGIN
        self._layout = lay_out(pruned, box_width, _text_width)
        width = max(self._layout.width, _LEAST_WIDTH)
        head = captions.wrapped(captions.heading(self._tree), width, _text_width)
        foot = captions.wrapped(captions.explanation(pruned), width, _text_width)
        top = -ROW / 2 - _LINE * len(head)
        bottom = self._layout.height + ROW / 2 + _LINE * len(foot)
        self.figure = Figure(figsize=(width + 2 * _FRAME, bottom - top + 2 * _FRAME))
        self._axes: Any = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axes.set_axis_off()
        self._axes.set_xlim(-_FRAME, width + _FRAME)
        self._axes.set_ylim(bottom + _FRAME, top - _FRAME)
        for number, line in enumerate(head):
            weight = "normal" if number else "bold"
            self._write(0.0, top + (number + 0.5) * _LINE, line, fontweight=weight)
        for number, line in enumerate(reversed(foot)):
            self._write(0.0, bottom - (number + 0.5) * _LINE, line, color=_FAINT)
        self._draw_edges()
        self._draw_rests()
        for node in self._layout.nodes.values():
            self._draw_box(node)

    def _draw_edges(self) -> None:
        chosen = self._tree.chosen
        all_visits = self._tree.nodes[0].visits
        # chosen ones last: they lie on top where edges leave a box together
        for number in sorted(self._layout.nodes, key=lambda one: one in chosen):
            node = self._tree.nodes[number]
            if number == 0:
                continue
            style = {"color": _EDGE, "linewidth": 0.5 + 2 * node.visits / all_visits}
            if number in chosen:
                style = {"color": _CHOSEN, "linewidth": 2.2}
                if number != chosen[0]:
                    style = {"color": _CHOSEN, "linewidth": 1.6, "linestyle": (0, (3, 1.2))}
            placed = self._layout.nodes[number]
            start = self._draw_edge(node.parent, placed.left, placed.row, **style)
            color = _CHOSEN if number in chosen else "black"
            label = captions.token_label(node.piece)
            self._write(start + MARGIN, placed.row - _LIFT, label, va="baseline", color=color)

    def _draw_rests(self) -> None:
        for rest in self._layout.rests:
            style = {"color": _FAINT, "linewidth": 0.6, "linestyle": ":"}
            self._draw_edge(rest.parent, rest.left - MARGIN, rest.row, **style)
            self._write(rest.left, rest.row, captions.rest_text(rest.hidden), color=_FAINT)

    def _draw_edge(self, parent: int, end: float, row: float, **style: Any) -> float:
        """From the box of `parent` to `end` in another row; where the straight part begins."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        above = self._layout.nodes[parent]
        left = above.left + self._layout.box_width
        right, middle = left + BEND, left + BEND / 2
        curve = Curve(
            [(left, above.row), (middle, above.row), (middle, row), (right, row), (end, row)],
            [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4, Curve.LINETO],
        )
        self._axes.add_artist(PathPatch(curve, fill=False, capstyle="butt", **style))
        return right

    def _draw_box(self, placed: PlacedNode) -> None:
        from matplotlib.patches import FancyBboxPatch

        node = self._tree.nodes[placed.number]
        width = self._layout.box_width
        chosen = placed.number in self._tree.chosen
        corners = "square,pad=0" if node.finished else "round,pad=0,rounding_size=0.07"
        self._axes.add_artist(
            FancyBboxPatch(
                (placed.left, placed.row - _BOX / 2),
                width,
                _BOX,
                boxstyle=corners,
                facecolor=self._fill(node.value),
                edgecolor=_CHOSEN if chosen else _EDGE,
                linewidth=1.8 if chosen else 0.7,
            )
        )
        self._write(placed.left + MARGIN, placed.row, str(node.visits), fontweight="bold")
        value = self._value_texts[placed.number]
        self._write(placed.left + width - MARGIN, placed.row, value, ha="right")

    def _fill(self, value: float) -> tuple[float, ...]:
        spread = self._highest - self._lowest
        share = (value - self._lowest) / spread if spread > 0 else 0.0
        return tuple(
            low + share * (high - low)
            for low, high in zip(_LOWEST_FILL, _HIGHEST_FILL, strict=True)
        )

    def _write(self, x: float, y: float, text: str, **style: Any) -> None:
        # a token may hold dollar signs, which matplotlib would take for formulas
        defaults = {"va": "center_baseline", "ha": "left", "parse_math": False}
        self._axes.text(x, y, text, family=_FONTS, size=_POINTS, **{**defaults, **style})


@lru_cache(maxsize=10_000)  # the same words and numbers come again and again
def _text_width(text: str, *, bold: bool = False) -> float:
    """In inches. Letters that the font lacks are drawn by other fonts: East Asian ones are wide."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=_FONTS, size=_POINTS, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return max(float(width), wide * _POINTS) / _POINTS_PER_INCH
