"""What must hold in every tree after every step, and what must be forgotten in time."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.search.tree import NO_NODE, Tree, prefix_tokens
from tests.search.compare import by_sentence_id, near, rules_of, run
from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.toy_models import Prefix, ToyMetric, ToyModel, ToyProblem, toy_problems
from tests.search.watching import SeenNode, SeenTree, live_slots, num_live, watch_slots, watch_trees

some_models = settings(max_examples=40, deadline=None, derandomize=True, database=None)
METRIC = ToyMetric(seed=23, kind="levels")

SWITCHES = [
    {"backup": "mean", "choose": "visits"},
    {"backup": "max", "choose": "value"},
    {"backup": "mean", "choose": "value", "terminal": "metric"},
    {"backup": "max", "choose": "visits", "leaf": "rollout"},
    {"backup": "mean", "choose": "visits", "leaf": "rollout"},
    {"backup": "bellman", "choose": "value"},
    {"backup": "weighted-max", "choose": "visits"},
    {"backup": "power", "choose": "value"},
    {"backup": "bellman", "choose": "visits", "leaf": "rollout"},
    {"backup": "mean", "root": "gumbel"},
    {"backup": "max", "root": "gumbel", "below_root": "improved", "gumbel_actions": 3},
]


def mcts_options(problem: ToyProblem, switches: dict[str, Any], **more: Any) -> dict[str, Any]:
    options = {**switches, **more}
    if "terminal" in options or "leaf" in options:
        options["metric"] = by_sentence_id(problem, METRIC)
    return options


# ---- the trees of MCTS ----


def own_arrivals(tree: SeenTree, prefix: Prefix) -> list[float]:
    """The values that arrived at or below a node, the node's own included."""
    node = tree.nodes[prefix]
    own = [node.own_value] * (node.visits if node.finished else 1)
    return own + [v for child in node.child_prefixes for v in own_arrivals(tree, child)]


def check_visits(node: SeenNode, tree: SeenTree) -> None:
    assert node.visits >= 1
    if node.finished:
        assert not node.child_prefixes
    else:
        assert node.visits == 1 + sum(node.child_visits)
    for child, visits, q in zip(node.child_prefixes, node.child_visits, node.child_q, strict=True):
        assert tree.nodes[child].visits == visits
        assert tree.nodes[child].q == q


def check_values(node: SeenNode, tree: SeenTree, backup: str) -> None:
    arrived = own_arrivals(tree, node.prefix)
    assert len(arrived) == node.visits
    if backup == "max":
        assert node.q == max(arrived)
    elif backup == "mean":
        assert near(node.q, sum(arrived) / len(arrived))
    elif backup == "bellman":
        assert node.q == max(node.child_q, default=node.own_value)
    slack = 0.0 if backup in ("max", "bellman") else 1e-12
    assert min(arrived) - slack <= node.q <= max(arrived) + slack
    assert tree.lowest - slack <= node.q <= tree.highest + slack


@pytest.mark.parametrize("switches", [s for s in SWITCHES if "leaf" not in s])
@given(problem=toy_problems(), simulations=st.integers(1, 30))
@some_models
def test_every_tree_adds_up(
    switches: dict[str, Any], problem: ToyProblem, simulations: int
) -> None:
    def check(tree: SeenTree, slots: Tree) -> None:
        assert tree.nodes[tree.root].visits == 1 + simulations
        for node in tree.nodes.values():
            check_visits(node, tree)
            check_values(node, tree, switches["backup"])
        own = [node.own_value for node in tree.nodes.values()]
        assert (tree.lowest, tree.highest) == (min(own), max(own))

    watch_trees(problem, check, **mcts_options(problem, switches, simulations=simulations))


@pytest.mark.parametrize("switches", SWITCHES)
@given(problem=toy_problems(), simulations=st.integers(1, 30))
@some_models
def test_every_node_is_the_references(
    switches: dict[str, Any], problem: ToyProblem, simulations: int
) -> None:
    """Not the children of the root alone: the trees agree down to their leaves."""
    options = mcts_options(problem, switches, simulations=simulations, c_puct=2.93)
    plain = {name: value for name, value in options.items() if name != "metric"}
    expected = {}
    for index, sentence in enumerate(problem.sentence_ids):
        rules = rules_of(problem, index)
        reference = ReferenceMcts(
            problem.model, sentence, rules, MctsOptions(**plain), METRIC.score
        ).decode()
        for step in reference.steps:
            expected[index, step.root.prefix] = {n.prefix: n for n in step.root.walk()}

    def check(tree: SeenTree, slots: Tree) -> None:
        nodes = expected.pop((tree.sentence, tree.root))
        assert {p: n.visits for p, n in tree.nodes.items()} == {
            p: n.visits for p, n in nodes.items()
        }
        for prefix, node in tree.nodes.items():
            assert near(node.q, nodes[prefix].value)

    watch_trees(problem, check, **options)
    assert not expected, "a token had no tree"


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@given(problem=toy_problems(), simulations=st.integers(1, 40))
@some_models
def test_the_budget_is_kept_exactly(root: str, problem: ToyProblem, simulations: int) -> None:
    results, _ = run(problem, search="mcts", simulations=simulations, root=root, trace=True)
    for hypotheses in results:
        best = hypotheses[0]
        for step in best.steps:
            assert sum(visits for visits, _ in step.children.values()) == simulations
        assert best.evaluations.charged == len(best.tokens) * (1 + simulations)
        assert best.evaluations.made <= best.evaluations.charged


# ---- what is kept, and what is freed ----

SEARCHES: dict[str, dict[str, Any]] = {
    "mcts": {"search": "mcts", "simulations": 12},
    "mcts traced": {"search": "mcts", "simulations": 12, "trace": True, "n_best": 3},
    "mcts rollout": {"search": "mcts", "simulations": 8, "leaf": "rollout"},
    "mcts metric": {"search": "mcts", "simulations": 8, "terminal": "metric", "n_best": 2},
    "vgbs": {"search": "vgbs", "beam": 3, "n_best": 3},
    "vgbs without value": {"search": "vgbs", "beam": 3, "alpha": 0.0},
    "beam": {"search": "beam", "beam": 4, "n_best": 4},
    "sr": {"search": "sr", "samples": 7, "n_best": 7},
    "sr metric": {"search": "sr", "samples": 7, "rank_by": "metric"},
}


def with_metric(name: str, problem: ToyProblem) -> dict[str, Any]:
    options = dict(SEARCHES[name])
    if "metric" in options.values() or "rollout" in options.values():
        options["metric"] = by_sentence_id(problem, METRIC)
    return options


def check_slots(tree: Tree) -> None:
    """The live slots form trees: acyclic, closed towards the root, each prefix once."""
    live = live_slots(tree)
    assert num_live(tree) == len(live)
    children: dict[int, int] = defaultdict(int)
    for slot in live:
        parent = int(tree.parent[slot])
        if parent == NO_NODE:
            assert tree.depth[slot] == 0
        else:
            assert parent in live, "a parent was freed before its child"
            # depths that grow by one at each step exclude a cycle
            assert tree.depth[slot] == tree.depth[parent] + 1
            assert tree.sentence[slot] == tree.sentence[parent]
            children[parent] += 1
    for slot in live:
        assert tree.prefixes[slot]["num_children"] == children[slot]
    ordered = sorted(live)
    if ordered:
        prefixes = prefix_tokens(tree, np.array(ordered, np.int32))
        names = list(zip(tree.sentence[ordered].tolist(), prefixes, strict=True))
        assert len(set(names)) == len(names), "one prefix in two slots"


@pytest.mark.parametrize("name", SEARCHES)
@given(problem=toy_problems())
@some_models
def test_slots_are_sound_at_every_step_and_all_free_at_the_end(
    name: str, problem: ToyProblem
) -> None:
    search, _ = watch_slots(problem, check_slots, **with_metric(name, problem))
    assert num_live(search.tree) == 0


@pytest.mark.parametrize("switches", SWITCHES)
@given(problem=toy_problems(), simulations=st.integers(1, 20))
@some_models
def test_nothing_is_kept_beside_the_chosen_tokens(
    switches: dict[str, Any], problem: ToyProblem, simulations: int
) -> None:
    """Every live prefix starts with the tokens chosen so far, or they with it."""

    def check(tree: SeenTree, slots: Tree) -> None:
        mine = [slot for slot in live_slots(slots) if slots.sentence[slot] == tree.sentence]
        for prefix in prefix_tokens(slots, np.array(mine, np.int32)):
            shared = min(len(prefix), len(tree.root))
            assert prefix[:shared] == tree.root[:shared]

    watch_trees(problem, check, **mcts_options(problem, switches, simulations=simulations))


@pytest.mark.parametrize("name", SEARCHES)
@given(problem=toy_problems(max_sentences=4))
@some_models
def test_no_prefix_is_evaluated_twice(name: str, problem: ToyProblem) -> None:
    results, evaluate = run(problem, **with_metric(name, problem))
    for index, hypotheses in enumerate(results):
        asked = evaluate.asked[index]
        assert len(set(asked)) == len(asked) == hypotheses[0].evaluations.made


@pytest.mark.parametrize("name", ["mcts", "vgbs", "beam", "sr"])
def test_one_call_holds_the_requests_of_all_sentences(name: str) -> None:
    """Sentences do not take turns: the batch takes as many calls as its slowest sentence alone."""
    problem = ToyProblem(ToyModel(vocab=9, eos=2, seed=3), tuple(range(12)), max_len=6)
    _, together = run(problem, **SEARCHES[name])
    alone = []
    for index in range(12):
        _, single = run(problem.only(index), **SEARCHES[name])
        alone.append(len(single.calls))
    assert len(together.calls) == max(alone)
