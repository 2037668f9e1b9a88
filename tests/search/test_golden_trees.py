"""Replay the golden trees, by the fast search and by the reference that wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.compare import near, run
from tests.search.golden_format import FOLDER, GoldenProblem, read, replay_by_reference, trace_of
from tests.search.make_golden import CASES
from tests.search.watching import SeenTree, watch_trees

FILES = sorted(FOLDER.glob("*.json"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_all_golden_trees_are_there() -> None:
    assert {path.stem for path in FILES} == set(CASES)


@each_file
def test_the_fast_search_replays_the_answers(path: Path) -> None:
    golden = read(path)
    problem = GoldenProblem(golden)
    results, evaluate = run(problem, search="mcts", trace=True, **problem.search_options())
    best = results[0][0]
    assert list(best.tokens) == golden["tokens"]
    assert near(best.value, golden["value"])
    assert near(best.logprob, golden["logprob"])
    assert best.evaluations.charged == golden["charged"]
    for step, expected in zip(best.steps, golden["steps"], strict=True):
        assert step.token == expected["token"]
        found = sorted((token, *child) for token, child in step.children.items())
        assert [child[:2] for child in found] == [tuple(c[:2]) for c in expected["children"]]
        for child, expected_child in zip(found, expected["children"], strict=True):
            assert near(child[2], expected_child[2])
    if golden["options"]["leaf"] == "value":  # every node was opened in its turn
        assert [list(prefix) for prefix in evaluate.asked[0]] == golden["asked"]


@each_file
def test_the_fast_search_replays_every_node(path: Path) -> None:
    golden = read(path)
    problem = GoldenProblem(golden)
    expected_trees = iter(golden["steps"])

    def check(tree: SeenTree, slots: object) -> None:
        expected = {tuple(p): (visits, q) for p, visits, q, _ in next(expected_trees)["tree"]}
        assert {p: n.visits for p, n in tree.nodes.items()} == {
            p: visits for p, (visits, _) in expected.items()
        }
        for prefix, node in tree.nodes.items():
            assert near(node.q, expected[prefix][1])

    watch_trees(problem, check, **problem.search_options())
    assert next(expected_trees, None) is None


@each_file
def test_the_reference_still_says_the_same(path: Path) -> None:
    golden = read(path)
    trace = trace_of(replay_by_reference(golden))
    assert trace == {key: golden[key] for key in trace}
