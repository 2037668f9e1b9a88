"""Trees as files: what is written is read back, and damage is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.pictures.tree_file import load_tree, save_tree
from tests.pictures.trees import by_hand, grown


@pytest.mark.parametrize("seed", range(5))
def test_round_trip(seed: int, tmp_path: Path) -> None:
    tree = grown(seed, 60)
    save_tree(tree, tmp_path / "tree.json")
    assert load_tree(tmp_path / "tree.json") == tree


def test_deep_tree(tmp_path: Path) -> None:
    """Deeper than Python's recursion goes."""
    tree = grown(0, 3000, depth_bias=1.0)
    save_tree(tree, tmp_path / "tree.json")
    assert load_tree(tmp_path / "tree.json") == tree


def test_file_is_plain_json_with_one_node_a_line(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    save_tree(by_hand(), path)
    entries = json.loads(path.read_text(encoding="utf-8"))
    assert entries["sentence"] == 7
    assert entries["prefix"] == ["▁z"]
    assert [node["visits"] for node in entries["nodes"]][:3] == [12, 4, 6]
    assert sum('"parent"' in line for line in path.open(encoding="utf-8")) == 10
    assert "▁a" in path.read_text(encoding="utf-8")


def damaged(**changes: Any) -> str:
    """The file with other entries, or with another one of node 5."""
    entries = json.loads(json.dumps({"format": "fairseq_mcts search tree 1"}))
    tree = by_hand()
    entries |= {name: getattr(tree, name) for name in ("sentence", "step", "source", "prefix")}
    entries |= {"choice": tree.choice, "chosen": list(tree.chosen)}
    entries["nodes"] = [dict(vars(node)) for node in tree.nodes]
    for name, value in changes.items():
        (entries if name in entries else entries["nodes"][5])[name] = value
    return json.dumps(entries)


def test_the_undamaged_file_is_fine(tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text(damaged())
    assert load_tree(tmp_path / "tree.json") == by_hand()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no search tree"),
        ("[1, 2]", "holds no search tree: its format"),
        ('{"nodes": []}', "holds no search tree: its format"),
        (damaged(format="fairseq_mcts search tree 99"), "holds no search tree: its format"),
        (damaged(nodes=[]), "damaged search tree: there are no nodes"),
        (damaged(parent=5), "damaged search tree: node 5: its parent 5 is none"),
        (damaged(parent=-1), "damaged search tree: node 5: its parent -1 is none"),
        (damaged(visits="many"), "damaged search tree: node 5: visits is 'many'"),
        (damaged(value=float("inf")), "damaged search tree: node 5: value is inf"),
        (damaged(prior=float("nan")), "damaged search tree: node 5: prior is nan"),
        ("[" * 100_000, "holds no search tree: maximum recursion"),
        (damaged(visits=True), "damaged search tree: node 5: visits is True"),
        (damaged(colour="red"), "damaged search tree: .*colour"),
        (damaged(chosen=[1, 6]), "damaged search tree: chosen: node 6 is no child of node 1"),
        (damaged(source="text"), "damaged search tree: source is 'text'"),
        (damaged(source=[["a"]]), r"damaged search tree: source is or holds \['a'\]"),
        (damaged(prefix=[None]), "damaged search tree: prefix is or holds None"),
        (damaged(step="1"), "damaged search tree: step is or holds '1'"),
        (damaged(sentence=True), "damaged search tree: sentence is or holds True"),
        (damaged(choice=3), "damaged search tree: choice is or holds 3"),
        (damaged(chosen=[1.0]), r"damaged search tree: chosen is or holds 1\.0"),
        (damaged(chosen=[99]), "damaged search tree: chosen: node 99 is no child of node 0"),
    ],
)
def test_damage_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text(text)
    with pytest.raises(ValueError, match=f"tree.json: {complaint}"):
        load_tree(tmp_path / "tree.json")
