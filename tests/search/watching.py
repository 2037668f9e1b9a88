"""Look into a fast search while it runs: every node of every token's tree, every live slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fairseq_mcts.search import Run, TreeSnapshot, TreeWatcher, make_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.function_evaluator import FunctionEvaluator
from fairseq_mcts.search.scorer import Scorer
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


def search_on(
    problem: ToyProblem, watcher: TreeWatcher | None = None, **options: Any
) -> tuple[Any, FunctionEvaluator, ToyEvaluator]:
    """The parts that `decode` puts together, before they run."""
    constraints = make_constraints(len(problem.sentence_ids), **problem.decode_options())
    run = Run(
        constraints,
        n_best=options.pop("n_best", 1),
        trace=options.pop("trace", False),
        watcher=watcher,
    )
    options.pop("metric", None)
    search = make_decoder(options.pop("search"), options).search(run)
    evaluate = problem.evaluator()
    return search, FunctionEvaluator(evaluate, constraints), evaluate


def scorer_of(options: dict[str, Any]) -> Scorer | None:
    metric = options.get("metric")
    return None if metric is None else Scorer(metric)


def watch_slots(
    problem: ToyProblem, check: Callable[[Tree], None], **options: Any
) -> tuple[Any, ToyEvaluator]:
    """Runs a search with `check` after every advance; the search, and what was evaluated."""
    search, evaluator, evaluate = search_on(problem, **options)
    drive(Watched(search, check), evaluator, scorer_of(options))
    return search, evaluate


class EveryTree:
    """Wants every token's tree."""

    def __init__(self) -> None:
        self.see: Callable[[TreeSnapshot], None] = lambda tree: None

    def wants(self, sentence: int, step: int) -> bool:
        return True


def watch_trees(
    problem: ToyProblem, check: Callable[[SeenTree, Tree], None], **options: Any
) -> list[list[Any]]:
    """Runs MCTS and shows `check` every token's tree when its simulations are done."""
    watcher = EveryTree()
    search, evaluator, _ = search_on(problem, watcher, search="mcts", trace=True, **options)
    eos = problem.decode_options()["eos"]
    watcher.see = lambda seen: check(_seen_tree(seen, search.tree, eos), search.tree)
    drive(search, evaluator, scorer_of(options))
    return search.results()


def _seen_tree(seen: TreeSnapshot, tree: Tree, eos: int) -> SeenTree:
    prefixes = prefix_tokens(tree, seen.slots)
    assert len(set(prefixes)) == len(prefixes), "one prefix in two slots"
    children: list[list[int]] = [[] for _ in prefixes]
    for node, parent in enumerate(seen.parents.tolist()):
        if parent != NO_NODE:
            assert tree.parent[seen.slots[node]] == seen.slots[parent]
            action = tree.prefixes[seen.slots[node]]["action_of_parent"]
            assert tree.actions[seen.slots[parent], action]["child"] == seen.slots[node]
            children[parent].append(node)
    nodes = {
        prefix: SeenNode(
            prefix=prefix,
            visits=int(seen.visits[node]),
            q=float(seen.values[node]),
            own_value=float(seen.own_values[node]),
            finished=int(seen.tokens[node]) == eos,
            child_prefixes=[prefixes[child] for child in children[node]],
            child_visits=[int(seen.edge_visits[child]) for child in children[node]],
            child_q=[float(seen.edge_values[child]) for child in children[node]],
        )
        for node, prefix in enumerate(prefixes)
    }
    lowest, highest = seen.value_range
    return SeenTree(seen.sentence, prefixes[0], nodes, lowest, highest)
