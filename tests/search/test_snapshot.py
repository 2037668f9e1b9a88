"""What a watcher is shown: the same trees as those of the slow search, node by node."""

from __future__ import annotations

from typing import Any

import pytest

from fairseq_mcts.search import TreeSnapshot
from tests.search import reference_gumbel
from tests.search.compare import by_sentence_id, near, rules_of, run
from tests.search.reference_mcts import MctsOptions, Node, ReferenceMcts, Step
from tests.search.toy_models import Prefix, ToyMetric, ToyModel, ToyProblem


class Watcher:
    """Keeps what it sees, of chosen sentences and steps or of all."""

    def __init__(self, wanted: set[tuple[int, int]] | None = None) -> None:
        self.wanted = wanted
        self.seen: dict[tuple[int, int], TreeSnapshot] = {}

    def wants(self, sentence: int, step: int) -> bool:
        return self.wanted is None or (sentence, step) in self.wanted

    def see(self, tree: TreeSnapshot) -> None:
        assert (tree.sentence, tree.step) not in self.seen
        self.seen[tree.sentence, tree.step] = tree


def problem(seed: int, **given: Any) -> ToyProblem:
    model = ToyModel(vocab=6, eos=2, seed=seed, policy="levels" if seed % 2 else "peaked")
    return ToyProblem(model, **{"sentence_ids": (3, 8, 5), "max_len": 5, **given})


def prefixes(tree: TreeSnapshot) -> list[Prefix]:
    """[n] the whole prefix of every node."""
    found: list[Prefix] = [tree.prefix]
    for parent, token in zip(tree.parents[1:].tolist(), tree.tokens[1:].tolist(), strict=True):
        found.append((*found[parent], token))
    return found


def assert_same_tree(tree: TreeSnapshot, step: Step, options: MctsOptions) -> None:
    assert tree.prefix == step.root.prefix
    nodes = {node.prefix: node for node in step.root.walk()}
    names = prefixes(tree)
    assert len(set(names)) == len(names)
    assert set(names) == set(nodes)
    for index, name in enumerate(names):
        node = nodes[name]
        assert tree.visits[index] == node.visits
        assert near(tree.values[index], node.value)
        if index:
            assert near(tree.priors[index], nodes[name[:-1]].prior[name[-1]])
    assert [names[index] for index in tree.chosen] == way_of_choice(step.root, options)
    assert tree.tokens[tree.chosen[0]] == step.token


def way_of_choice(node: Node, options: MctsOptions) -> list[Prefix]:
    """Where the rule of choice leads when it is asked again and again."""
    way = []
    while node.children:
        if options.root == "gumbel":
            no_noise = dict.fromkeys(node.prior, 0.0)  # nor is there at the root of this case
            node = node.children[reference_gumbel.choose(node, no_noise, options)]
            way.append(node.prefix)
            continue
        prior = node.prior

        def worth(token: int, node: Node = node) -> float:
            child = node.children[token]
            return child.visits if options.choose == "visits" else child.value

        token = max(node.children, key=lambda one: (worth(one), prior[one], -one))
        node = node.children[token]
        way.append(node.prefix)
    return way


CASES = {
    "as in the paper": MctsOptions(simulations=30),
    "max": MctsOptions(simulations=25, backup="max", choose="value", c_puct=8.17, temperature=1.1),
    "leaves": MctsOptions(simulations=23, leaves=4),
    "metric at the end": MctsOptions(simulations=20, terminal="metric", choose="value"),
    "rollouts": MctsOptions(simulations=12, leaf="rollout"),
    "rollouts of many leaves": MctsOptions(simulations=12, leaf="rollout", leaves=3, actions=2),
    "one simulation": MctsOptions(simulations=1),
    "gumbel": MctsOptions(simulations=25, root="gumbel", gumbel_actions=4),
    "bellman": MctsOptions(simulations=25, backup="bellman", choose="value"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_every_tree_is_that_of_the_slow_search(name: str, seed: int) -> None:
    options = CASES[name]
    task = problem(seed, prefixes=((), (4, 1), ()))
    metric = ToyMetric(seed)
    given = vars(options)
    if options.leaf == "rollout" or options.terminal == "metric":
        given = {**given, "metric": by_sentence_id(task, metric)}
    watcher = Watcher()
    run(task, search="mcts", watcher=watcher, **given)
    steps = {
        (index, number): step
        for index, sentence in enumerate(task.sentence_ids)
        for number, step in enumerate(
            ReferenceMcts(task.model, sentence, rules_of(task, index), options, metric.score)
            .decode()
            .steps,
            start=1,
        )
    }
    assert watcher.seen.keys() == steps.keys()
    for key, step in steps.items():
        assert_same_tree(watcher.seen[key], step, options)


def test_only_what_is_wanted_is_shown_and_watching_changes_nothing() -> None:
    task = problem(1)
    watcher = Watcher({(1, 2), (0, 1), (2, 99)})
    watched, evaluate = run(task, search="mcts", simulations=10, watcher=watcher)
    alone, unwatched = run(task, search="mcts", simulations=10)
    assert watcher.seen.keys() == {(1, 2), (0, 1)}
    assert watched == alone
    assert evaluate.calls == unwatched.calls


def test_snapshot_outlives_the_tree() -> None:
    """The arrays are copies: the search goes on and uses its slots again."""

    at_once: dict[tuple[int, int], tuple[list[int], list[float]]] = {}

    class Comparing(Watcher):
        def see(self, tree: TreeSnapshot) -> None:
            super().see(tree)
            at_once[tree.sentence, tree.step] = (tree.visits.tolist(), tree.values.tolist())

    watcher = Comparing()
    run(problem(0), search="mcts", simulations=20, watcher=watcher)
    for key, tree in watcher.seen.items():
        assert at_once[key] == (tree.visits.tolist(), tree.values.tolist())


@pytest.mark.parametrize("search", ["beam", "vgbs", "sr"])
def test_other_searches_have_no_trees_to_show(search: str) -> None:
    with pytest.raises(ValueError, match=f"^watcher: search='{search}' builds no search tree"):
        run(problem(0), search=search, watcher=Watcher())
