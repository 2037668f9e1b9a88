"""python -m fairseq_mcts.pictures"""

from dataclasses import replace
from pathlib import Path

import pytest

from fairseq_mcts.pictures.__main__ import main
from fairseq_mcts.pictures.tree_file import save_tree
from tests.pictures.test_drawing import texts
from tests.pictures.trees import by_hand, grown


@pytest.fixture
def saved(tmp_path: Path) -> list[str]:
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file, tree in zip(files, (by_hand(), grown(1, 30)), strict=True):
        save_tree(tree, file)
    return list(map(str, files))


def test_pictures_beside_the_files(
    saved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(saved)
    assert capsys.readouterr().out.split() == [str(tmp_path / "one.svg"), str(tmp_path / "two.svg")]
    assert "Sentence 7, output token 2" in texts(tmp_path / "one.svg")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--min-visits", "3"), "Shown: 5 of 10 nodes: with at least 3 visits"),
        (("--max-nodes", "3"), "Shown: 4 of 10 nodes: with at least 4 visits"),
        (("--depth", "1"), "Shown: 4 of 10 nodes: with at least 1 visit "),
        ((), "All 10 nodes are shown."),
    ],
)
def test_pruning_options(
    options: tuple[str, ...], shown: str, saved: list[str], tmp_path: Path
) -> None:
    main([saved[0], *options])
    assert any(line.startswith(shown) for line in texts(tmp_path / "one.svg"))


def test_where_pictures_go(saved: list[str], tmp_path: Path) -> None:
    main([saved[0], "--out", str(tmp_path / "other.png")])
    assert (tmp_path / "other.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "folder").mkdir()
    main([*saved, "--out", str(tmp_path / "folder")])
    assert sorted(one.name for one in (tmp_path / "folder").iterdir()) == ["one.svg", "two.svg"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--depth", "0"), "--depth: must be a whole number ≥ 1: 0"),
        (("--max-nodes", "many"), "--max-nodes: must be a whole number ≥ 1: many"),
        (("--min-visits", "-1"), "--min-visits"),
        (("--out", "tree.jpeg"), "--out tree.jpeg: neither a folder nor a name that ends in"),
        (("--out", "tree.svg"), "--out tree.svg: one picture for 2 trees"),
        (("missing.json",), "No such file"),
    ],
)
def test_bad_options_are_named(
    options: tuple[str, ...],
    complaint: str,
    saved: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*saved, *options])
    assert end.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.slow
def test_a_tree_of_very_many_levels_is_drawn_as_far_as_asked_for(tmp_path: Path) -> None:
    tree = by_hand()
    below = [replace(tree.nodes[1], parent=number) for number in range(100_000)]
    deep = replace(tree, nodes=(tree.nodes[0], *below), chosen=tuple(range(1, 100_001)))
    save_tree(deep, tmp_path / "deep.json")
    main([str(tmp_path / "deep.json")])
    assert any("100001" in line for line in texts(tmp_path / "deep.svg"))
