"""Which search trees the report shows."""

from pathlib import Path

import pytest

from examples.multi30k.trees import pictures_by_prior_gap, prior_gap
from fairseq_mcts.pictures.tree_file import SearchTree, TreeNode, save_tree


def make_tree(sentence: int, step: int, priors: list[float], chosen: int) -> SearchTree:
    root = TreeNode(-1, -1, "", 1.0, 9, 0.5, finished=False)
    children = [TreeNode(0, 7 + i, "x", prior, 2, 0.5, False) for i, prior in enumerate(priors)]
    return SearchTree(sentence, step, ("a",), (), "visits", (1 + chosen,), nodes=(root, *children))


def test_the_policy_is_overruled_by_what_it_likes_less() -> None:
    assert prior_gap(make_tree(0, 1, [0.6, 0.1], chosen=0)) == 0.0
    assert prior_gap(make_tree(0, 1, [0.6, 0.1], chosen=1)) == pytest.approx(0.5)


def test_each_sentence_shows_its_most_telling_tree(tmp_path: Path) -> None:
    trees = [
        make_tree(0, 1, [0.6, 0.1], chosen=0),
        make_tree(0, 2, [0.6, 0.2], chosen=1),
        make_tree(1, 1, [0.9, 0.1], chosen=1),
        make_tree(2, 1, [0.5, 0.4], chosen=1),
        make_tree(3, 1, [0.5, 0.4], chosen=0),
    ]
    for tree in trees:
        save_tree(tree, tmp_path / f"{tree.sentence}-{tree.step}.json")
    names = [path.name for path in pictures_by_prior_gap(tmp_path)]
    assert names == ["1-1.svg", "0-2.svg", "2-1.svg"]
    assert pictures_by_prior_gap(tmp_path / "none") == []
