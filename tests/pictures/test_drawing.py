"""The pictures themselves: what stands in them, and that it can be read."""

import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch

from fairseq_mcts.pictures.drawing import FORMATS, draw_tree, tree_figure
from fairseq_mcts.pictures.pruning import Pruning
from fairseq_mcts.pictures.tree_file import save_tree
from tests.console import REPOSITORY
from tests.pictures.trees import by_hand, grown


def texts(path: Path) -> list[str]:
    """Everything that is written in an SVG."""
    root = ElementTree.parse(path).getroot()
    return [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_tokens_visits_and_values_stand_in_the_picture(tmp_path: Path) -> None:
    draw_tree(by_hand(), tmp_path / "tree.svg", Pruning(min_visits=2))
    written = texts(tmp_path / "tree.svg")
    for shown in (
        "␣a",
        "␣b",
        "e",
        "f",
        "g",
        "h",
        "</s>",
        "12",
        "6",
        "0.900",
        "0.950",
        "Source: xy",
    ):
        assert shown in written
    for hidden in ("c", "i", "0.300"):
        assert hidden not in written
    assert written.count("+1 (1 visit)") == 2


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("]]>&#0;", "]]>&#0;"),
        ("a\x00\x1b\n\x7f", "a\u2400\u241b\u240a\u2421"),
        ("\ufffe\ud800", "\ufffd\ufffd"),
        ("$\\frac{", "$\\frac{"),
    ],
)
def test_any_text_stays_text_in_a_picture(tmp_path: Path, piece: str, shown: str) -> None:
    """Markup is none, and what no XML file can hold is replaced."""
    tree = by_hand()
    nodes = (tree.nodes[0], replace(tree.nodes[1], piece=piece), *tree.nodes[2:])
    hostile = replace(tree, nodes=nodes, source=(piece,), prefix=(piece,))
    draw_tree(hostile, tmp_path / "tree.svg")
    written = texts(tmp_path / "tree.svg")
    assert {shown, f"Source: {shown}", f"Decoded so far: {shown}"} <= set(written)
    names = {one.tag for one in ElementTree.parse(tmp_path / "tree.svg").getroot().iter()}
    assert not any(name.endswith("script") for name in names)


@pytest.mark.parametrize("seed", range(6))
def test_no_text_overlaps_another_or_leaves_its_box(seed: int) -> None:
    """By the extents that the renderer draws with, not by those that the layout reckons with."""
    tree = grown(seed, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that only other fonts have
        figure = tree_figure(tree, Pruning())
        renderer = FigureCanvasAgg(figure).get_renderer()
        [axes] = figure.axes
        labels = [one.get_window_extent(renderer) for one in axes.texts]
    for one, other in combinations(labels, 2):
        assert not overlap(one, other)
    boxes = [one.get_window_extent() for one in axes.patches if isinstance(one, FancyBboxPatch)]
    for box in boxes:
        inside = [one for one in labels if overlap(box, one)]
        assert len(inside) == 2  # visits and value
        for one in inside:
            assert box.x0 < one.x0 and one.x1 < box.x1
    width, height = figure.bbox.width, figure.bbox.height
    for one in labels:
        assert one.x0 > 0 and one.y0 > 0 and one.x1 < width and one.y1 < height


def overlap(one: Any, other: Any) -> bool:
    """By more than the half pixel that letters are smoothed with."""
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    along = min(one.y1, other.y1) - max(one.y0, other.y0)
    return min(across, along) > 0.5


def test_same_tree_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "other"):
        draw_tree(grown(3, 40), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_chosen_path_is_marked(tmp_path: Path) -> None:
    """Another choice in the same tree is another picture: one full and one dashed line move."""
    draw_tree(by_hand(), tmp_path / "one.svg")
    picture = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert picture.count("stroke: #b8400b; stroke-width: 2.2") == 1
    assert picture.count("stroke-dasharray") == 1
    draw_tree(replace(by_hand(), chosen=(2, 6, 8, 9)), tmp_path / "two.svg")
    picture = (tmp_path / "two.svg").read_text(encoding="utf-8")
    assert picture.count("stroke: #b8400b; stroke-width: 2.2") == 1
    assert picture.count("stroke-dasharray") == 3


def test_dollar_signs_and_foreign_letters_stay_what_they_are(tmp_path: Path) -> None:
    nodes = list(by_hand().nodes)
    nodes[1] = replace(nodes[1], piece="$a_1$")
    nodes[2] = replace(nodes[2], piece="日本")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_tree(replace(by_hand(), nodes=tuple(nodes)), tmp_path / "tree.svg")
    written = texts(tmp_path / "tree.svg")
    assert "$a_1$" in written
    assert "日本" in written


@pytest.mark.parametrize("ending", FORMATS)
def test_smallest_tree_in_every_format(ending: str, tmp_path: Path) -> None:
    tree = replace(by_hand(), nodes=by_hand().nodes[:1], chosen=())
    draw_tree(tree, tmp_path / f"tree{ending}")
    assert (tmp_path / f"tree{ending}").stat().st_size > 1000


WITHOUT = """
import sys
path, *missing = sys.argv[1:]
sys.modules.update(dict.fromkeys(missing))  # as if they were not installed
from fairseq_mcts.pictures.__main__ import main
main([path])
"""


def redraw_without(tmp_path: Path, *missing: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command where these packages are missing."""
    save_tree(by_hand(), tmp_path / "tree.json")
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path / "tree.json"), *missing],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_missing_matplotlib_is_named_with_what_to_install(tmp_path: Path) -> None:
    done = redraw_without(tmp_path, "matplotlib")
    assert done.returncode == 2
    assert "need matplotlib: pip install 'fairseq_mcts[report]'" in done.stderr


def test_neither_torch_nor_fairseq_nor_numba_is_needed(tmp_path: Path) -> None:
    done = redraw_without(tmp_path, "torch", "fairseq", "numba")
    assert done.returncode == 0, done.stderr
    assert texts(tmp_path / "tree.svg")
