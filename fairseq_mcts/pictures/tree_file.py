"""A search tree as a JSON file: everything that a picture of it needs, and more."""

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

FORMAT = "fairseq_mcts search tree 1"
NO_PARENT = -1


@dataclass(frozen=True)
class TreeNode:
    """A prefix that the search has visited, and the edge that leads to it."""

    parent: int  # number of the node above, NO_PARENT for the root
    token: int  # the last one of the prefix; -1: there is none
    piece: str  # the token as the dictionary writes it
    prior: float  # of the token, as the search weighs it; 1 for the root
    visits: int
    value: float  # mean or maximum of what was backed up
    finished: bool  # whether the prefix is a whole sentence


@dataclass(frozen=True)
class SearchTree:
    """The search for one output token of one sentence."""

    sentence: int  # its number in the S and H lines of fairseq's output
    step: int  # which output token, from 1
    source: tuple[str, ...]  # pieces
    prefix: tuple[str, ...]  # pieces decoded before this step
    choice: str  # what the chosen child has most of: "visits" or "value"; "gumbel": a sum
    # nodes from the chosen child down: the first is the token of this step, the others are where
    # the same choice would lead in this tree
    chosen: tuple[int, ...]
    nodes: tuple[TreeNode, ...]  # parents before their children, the root first

    def depths(self) -> list[int]:
        """The number of tokens between the root and each node."""
        depths = [0]
        for node in self.nodes[1:]:
            depths.append(depths[node.parent] + 1)
        return depths


def save_tree(tree: SearchTree, path: Path) -> None:
    """Writes `tree`, one node a line, so that the file can be read and compared by eye."""
    head = {"format": FORMAT, **asdict(tree)}
    nodes = head.pop("nodes")
    lines = [f" {_json(name)}: {_json(value)},\n" for name, value in head.items()]
    rows = ",\n".join(f"  {_json(node)}" for node in nodes)
    path.write_text("{\n" + "".join(lines) + f' "nodes": [\n{rows}\n ]\n}}\n', encoding="utf-8")


def load_tree(path: Path) -> SearchTree:
    """Reads what `save_tree` wrote; a ValueError names the file if it holds something else."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor JSON, or JSON without end
        raise ValueError(f"{path}: holds no search tree: {error}") from error
    if not isinstance(entries, dict) or entries.pop("format", None) != FORMAT:
        raise ValueError(f'{path}: holds no search tree: its format is not "{FORMAT}"')
    try:
        nodes = tuple(TreeNode(**node) for node in entries["nodes"])
        sequences = {name: _entries(name, entries[name]) for name in ("source", "prefix", "chosen")}
        tree = SearchTree(**{**entries, **sequences, "nodes": nodes})
        _check(tree)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: damaged search tree: {error}") from error
    return tree


def _entries(name: str, given: Any) -> tuple[Any, ...]:
    """Of a list: a text has letters, which are no pieces."""
    if not isinstance(given, list):
        raise ValueError(f"{name} is {given!r}")
    return tuple(given)


def _json(entry: Any) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False)


def _check(tree: SearchTree) -> None:
    """Refuses what the drawing would stumble over or show wrongly."""
    kinds = {"sentence": int, "step": int, "choice": str}
    entries = [(name, getattr(tree, name), kind) for name, kind in kinds.items()]
    entries += [
        (name, piece, str) for name in ("source", "prefix") for piece in getattr(tree, name)
    ]
    entries += [("chosen", node, int) for node in tree.chosen]
    for name, entry, kind in entries:
        if type(entry) is not kind:
            raise ValueError(f"{name} is or holds {entry!r}")
    for number, node in enumerate(tree.nodes):
        for field in fields(node):
            value = getattr(node, field.name)
            number_like = field.type is float and isinstance(value, int)
            if not number_like and type(value) is not field.type:
                raise ValueError(f"node {number}: {field.name} is {value!r}")
            if field.type is float and not math.isfinite(value):
                raise ValueError(f"node {number}: {field.name} is {value}")
        above = range(number) if number else [NO_PARENT]
        if node.parent not in above:
            raise ValueError(f"node {number}: its parent {node.parent} is none of the nodes before")
    if not tree.nodes:
        raise ValueError("there are no nodes")
    parent = 0
    for number in tree.chosen:
        if number not in range(1, len(tree.nodes)) or tree.nodes[number].parent != parent:
            raise ValueError(f"chosen: node {number} is no child of node {parent}")
        parent = number
