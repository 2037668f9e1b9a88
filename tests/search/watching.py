"""Look into a fast search while it runs: every node of every token's tree, every live slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.search import mcts_records as records
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.decode import make_search
from fairseq_mcts.search.driver import run
from fairseq_mcts.search.function_evaluator import FunctionEvaluator
from fairseq_mcts.search.mcts import MctsSearch
from fairseq_mcts.search.options import make_options
from fairseq_mcts.search.tree import NO_NODE, Tree, prefix_tokens
from tests.search.toy_models import Prefix, ToyEvaluator, ToyProblem


class SeenNode(NamedTuple):
    """A node of the search tree of one output token, as the fast search holds it."""

    prefix: Prefix
    visits: int
    q: float
    own_value: float
    finished: bool
    child_prefixes: list[Prefix]
    child_visits: list[int]  # as the parent's row has them
    child_q: list[float]


class SeenTree(NamedTuple):
    sentence: int
    root: Prefix
    nodes: dict[Prefix, SeenNode]
    lowest: float
    highest: float
    simulations: int


class Watched:
    """A search in disguise: `check` is called after each of its advances."""

    def __init__(self, search: Any, check: Callable[[Tree], None]) -> None:
        self.search = search
        self.check = check

    def __getattr__(self, name: str) -> Any:
        return getattr(self.search, name)

    def advance(self) -> Any:
        wanted = self.search.advance()
        self.check(self.search.tree)
        return wanted


def num_live(tree: Tree) -> int:
    """How many prefixes are remembered now."""
    return tree.capacity - int(tree.free_count[0])


def live_slots(tree: Tree) -> set[int]:
    count = int(tree.free_count[0])
    free = tree.free[:count].tolist()
    assert len(set(free)) == count, "a slot was freed twice"
    assert set(free) <= set(range(tree.capacity))
    return set(range(tree.capacity)) - set(free)


def search_on(problem: ToyProblem, **options: Any) -> tuple[Any, FunctionEvaluator, ToyEvaluator]:
    """The parts that `decode` puts together, before they run."""
    n_best = options.pop("n_best", 1)
    trace = options.pop("trace", False)
    chosen = make_options(options.pop("search"), options)
    constraints = make_constraints(len(problem.sentence_ids), **problem.decode_options())
    evaluate = problem.evaluator()
    search = make_search(chosen, constraints, n_best=n_best, trace=trace)
    return search, FunctionEvaluator(evaluate, constraints), evaluate


def watch_slots(
    problem: ToyProblem, check: Callable[[Tree], None], **options: Any
) -> tuple[Any, ToyEvaluator]:
    """Runs a search with `check` after every advance; the search, and what was evaluated."""
    search, evaluator, evaluate = search_on(problem, **options)
    run(Watched(search, check), evaluator, options.get("metric"))
    return search, evaluate


def watch_trees(
    problem: ToyProblem, check: Callable[[SeenTree, Tree], None], **options: Any
) -> list[list[Any]]:
    """Runs MCTS and shows `check` every token's tree when its simulations are done."""
    search, evaluator, _ = search_on(problem, search="mcts", trace=True, **options)
    look_at_decision = search._look_at_decision

    def look(sentence: int) -> None:
        check(_seen_tree(search, sentence), search.tree)
        look_at_decision(sentence)

    search._look_at_decision = look
    run(search, evaluator, options.get("metric"))
    return search.results()


def _seen_tree(search: MctsSearch, sentence: int) -> SeenTree:
    tree, state = search.tree, search._states[sentence]
    assert state["phase"] == records.DECIDED
    root = int(state["root"])
    nodes = {}
    for slot in _visited(search, root, int(state["tree_number"])):
        node = _seen_node(search, slot)
        assert node.prefix not in nodes, "one prefix in two slots"
        nodes[node.prefix] = node
    return SeenTree(
        sentence=sentence,
        root=prefix_tokens(tree, np.array([root], np.int32))[0],
        nodes=nodes,
        lowest=float(state["lowest"]),
        highest=float(state["highest"]),
        simulations=int(state["simulations"]),
    )


def _visited(search: MctsSearch, slot: int, tree_number: int) -> Iterator[int]:
    if search._statistics.nodes[slot]["tree_number"] != tree_number:
        return
    yield slot
    for action in range(search.tree.prefixes[slot]["num_actions"]):
        child = int(search.tree.actions[slot, action]["child"])
        if child != NO_NODE:
            assert search.tree.parent[child] == slot
            assert search.tree.prefixes[child]["action_of_parent"] == action
            yield from _visited(search, child, tree_number)


def _seen_node(search: MctsSearch, slot: int) -> SeenNode:
    tree, statistics, rules = search.tree, search._statistics, search._rules
    prefix = prefix_tokens(tree, np.array([slot], np.int32))[0]
    finished = bool(tree.token[slot] == rules.eos)
    visited = [
        action
        for action in range(tree.prefixes[slot]["num_actions"])
        if statistics.children[slot, action]["visits"] > 0
    ]
    own = statistics.nodes["score"] if finished and rules.score_finished else tree.value
    return SeenNode(
        prefix=prefix,
        visits=int(statistics.nodes[slot]["visits"]),
        q=float(statistics.nodes[slot]["q"]),
        own_value=float(own[slot]),
        finished=finished,
        child_prefixes=[(*prefix, int(tree.actions[slot, action]["token"])) for action in visited],
        child_visits=[int(statistics.children[slot, action]["visits"]) for action in visited],
        child_q=[float(statistics.children[slot, action]["q"]) for action in visited],
    )
