"""Replay the golden trees, by the fast search and by the reference that wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.search import decode
from tests.search.compare import near
from tests.search.golden_format import FOLDER, model_of, read, replay_by_reference, trace_of
from tests.search.make_golden import CASES
from tests.search.toy_models import ToyEvaluator

FILES = sorted(FOLDER.glob("*.json"))


def replay(golden: dict[str, Any]) -> tuple[Any, list[tuple[int, ...]]]:
    model = model_of(golden)
    limits = dict(golden["limits"])
    limits.pop("vocab")
    forced = tuple(limits.pop("forced"))
    options = golden["options"]
    uses_metric = options["leaf"] == "rollout" or options["terminal"] == "metric"
    evaluate = ToyEvaluator(model, limits["eos"], [0])
    results = decode(
        evaluate,
        1,
        search="mcts",
        trace=True,
        prefixes=[forced],
        **limits,
        **options,
        **({"metric": model.score} if uses_metric else {}),
    )
    return results[0][0], evaluate.asked[0]


def test_all_golden_trees_are_there() -> None:
    assert {path.stem for path in FILES} == set(CASES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_fast_search_replays_them(path: Path) -> None:
    golden = read(path)
    hypothesis, asked = replay(golden)
    assert list(hypothesis.tokens) == golden["tokens"]
    assert near(hypothesis.value, golden["value"])
    assert near(hypothesis.logprob, golden["logprob"])
    assert hypothesis.evaluations.charged == golden["charged"]
    for step, expected in zip(hypothesis.steps, golden["steps"], strict=True):
        assert step.token == expected["token"]
        found = sorted((token, *child) for token, child in step.children.items())
        assert [child[:2] for child in found] == [tuple(c[:2]) for c in expected["children"]]
        for child, expected_child in zip(found, expected["children"], strict=True):
            assert near(child[2], expected_child[2])
    if golden["options"]["leaf"] == "value":  # every node was opened in its turn
        assert [list(prefix) for prefix in asked] == golden["asked"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_reference_still_says_the_same(path: Path) -> None:
    golden = read(path)
    trace = trace_of(replay_by_reference(golden))
    assert trace == {key: golden[key] for key in trace}
