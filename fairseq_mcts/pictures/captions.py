"""The texts of a tree's picture."""

import math
import re
from collections.abc import Callable, Iterable, Sequence

from fairseq_mcts.pictures.pruning import Hidden, PrunedTree
from fairseq_mcts.pictures.tree_file import SearchTree

_MOST_DIGITS = 4

TextWidth = Callable[[str], float]  # of a text, in inches


# what no XML file can hold, and so no SVG; and ends of lines, which are none in a picture
_UNDRAWABLE = re.compile("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\x7f")
_CONTROL_PICTURES = 0x2400  # ␀ and those after it stand for the control characters


def drawable(text: str) -> str:
    """A text that every viewer can show: control characters as their pictures."""
    return _UNDRAWABLE.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == 0x7F:
        return "\u2421"
    return chr(_CONTROL_PICTURES + code) if code < 0x20 else "\ufffd"


def joined(pieces: Sequence[str]) -> str:
    """Pieces as a reader writes them, if they are marked as sentencepiece or subword-nmt do."""
    if any(piece.startswith("\u2581") for piece in pieces):
        return drawable("".join(pieces).replace("\u2581", " ").strip())
    return drawable(" ".join(pieces).replace("@@ ", ""))


def token_label(piece: str) -> str:
    """A piece beside an edge: sentencepiece's mark of a space would look like a part of it."""
    return drawable(piece.replace("\u2581", "\u2423"))


def value_texts(values: Iterable[float]) -> list[str]:
    """The values with as many digits as show three of their spread; two to four."""
    values = list(values)
    spread = max(values) - min(values)
    digits = 2
    if spread > 0:
        digits = min(max(digits, 2 - math.floor(math.log10(spread))), _MOST_DIGITS)
    return [f"{value:.{digits}f}" for value in values]


def rest_text(hidden: Hidden) -> str:
    """What a picture says of the children that it does not show."""
    return f"+{hidden.children} ({_counted(hidden.visits, 'visit')})"


def heading(tree: SearchTree) -> list[str]:
    """What stands above the tree, one paragraph an entry."""
    lines = [
        f"Sentence {tree.sentence}, output token {tree.step}",
        f"Source: {joined(tree.source)}",
        f"Decoded so far: {joined(tree.prefix) or '–'}",
    ]
    if tree.chosen:
        lines.append(
            f"Chosen by {drawable(tree.choice)}: {token_label(tree.nodes[tree.chosen[0]].piece)}"
        )
    return lines


def explanation(pruned: PrunedTree) -> list[str]:
    """What stands below the tree, one paragraph an entry."""
    lines = [
        "In a box: visits, value (the darker, the higher); angular: a finished sentence. "
        "Thick: the chosen token; dashed: where the same choice leads from there."
    ]
    shown, there = len(pruned.children), len(pruned.tree.nodes)
    if shown == there:
        return [*lines, f"All {there} nodes are shown."]
    lines.append(
        f"Shown: {shown} of {there} nodes: with at least {_counted(pruned.min_visits, 'visit')} or "
        f"on the chosen path, and at most {_counted(pruned.depth, 'token')} below the root. "
        "+n: n more children, and their visits."
    )
    return lines


def wrapped(paragraphs: Iterable[str], width: float, text_width: TextWidth) -> list[str]:
    """The paragraphs in lines of at most `width` inches, or of one word that is wider."""
    lines: list[str] = []
    space = text_width("a a") - 2 * text_width("a")
    for paragraph in paragraphs:
        line: list[str] = []
        used = 0.0  # by the line's words, each with a space behind it
        for word in paragraph.split(" "):
            needed = text_width(word)
            if line and used + needed > width:
                lines.append(" ".join(line))
                line, used = [], 0.0
            line.append(word)
            used += needed + space
        lines.append(" ".join(line))
    return lines


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
