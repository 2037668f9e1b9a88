"""MCTS for one sentence, as plainly as it can be said: a fresh tree of nodes for every token.

The rules are those of the specification, "MCTS to the letter". Nothing is remembered from one
token's tree to the next, and nothing is fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fairseq_mcts.search.random_numbers import uniform
from tests.search import reference_gumbel
from tests.search.reference_rules import (
    Answer,
    Model,
    Network,
    Prefix,
    Rules,
    positional_logprobs,
    tempered,
)

Metric = Callable[[int, Prefix], float]


@dataclass(frozen=True)
class MctsOptions:
    simulations: int = 50
    actions: int = 20
    c_puct: float = 3.0
    temperature: float = 1.0
    backup: str = "mean"
    choose: str = "visits"
    leaf: str = "value"
    terminal: str = "value"
    leaves: int = 1
    power: float = 4.0
    root: str = "puct"
    below_root: str = "puct"
    gumbel_actions: int = 16
    gumbel_scale: float = 0.0
    c_visit: float = 50.0
    c_scale: float = 0.05


class Node:
    """A prefix in the tree of one output token."""

    def __init__(self, prefix: Prefix, own_value: float, prior: dict[int, float]) -> None:
        self.prefix = prefix
        self.own_value = own_value
        self.prior = prior  # {token: probability}; empty for a finished sentence
        self.visits = 1
        self.value = own_value  # Q: of the own value and of everything backed up through here
        self.children: dict[int, Node] = {}
        self.in_flight: dict[int, int] = {}  # {token: leaves that were selected through it}

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children.values():
            yield from child.walk()


@dataclass(frozen=True)
class Step:
    """The finished search for one output token."""

    token: int
    children: dict[int, tuple[int, float]]  # {token: (visits, Q)} of the root's visited children
    root: Node


@dataclass(frozen=True)
class MctsResult:
    best: Answer
    others: list[Answer]  # the other finished sentences that the search met, best first
    steps: list[Step]
    charged: int
    asked: list[Prefix]  # the prefixes that need the network, each once, by the first time


class ReferenceMcts:
    def __init__(
        self,
        model: Model,
        sentence: int,
        rules: Rules,
        options: MctsOptions,
        metric: Metric | None = None,
        seed: int = 0,
    ) -> None:
        self.network = Network(model, sentence)
        self.sentence = sentence
        self.rules = rules
        self.options = options
        self.metric = metric
        self.seed = seed
        self.charged = 0
        self.lowest = math.inf
        self.highest = -math.inf
        self.finished: dict[Prefix, float] = {}

    def decode(self) -> MctsResult:
        prefix: Prefix = ()
        steps = []
        while not self.rules.finished(prefix):
            step = self.search_one_token(prefix)
            steps.append(step)
            prefix = (*prefix, step.token)
        best = self.answer(prefix)
        others = [self.answer(tokens) for tokens in self.finished if tokens != prefix]
        others.sort(key=lambda a: (-a.score, -a.logprob, a.tokens))
        return MctsResult(best, others, steps, self.charged, self.network.distinct())

    def answer(self, tokens: Prefix) -> Answer:
        value = self.finished[tokens]
        return Answer(tokens, positional_logprobs(self.network, tokens), value, value)

    def search_one_token(self, prefix: Prefix) -> Step:
        self.lowest = math.inf
        self.highest = -math.inf
        root = self.new_node(prefix)
        left = self.options.simulations
        while left:
            paths = self.select_paths(root, min(left, self.options.leaves))
            for path in paths:
                self.land(root, path)
            left -= len(paths)
        token = self.choose(root)
        children = {a: (child.visits, child.value) for a, child in root.children.items()}
        return Step(token, children, root)

    def select_paths(self, root: Node, wanted: int) -> list[Prefix]:
        """The tokens from the root to each leaf; those before a leaf count as lost visits."""
        paths: list[Prefix] = []
        while len(paths) < wanted:
            path = self.select_path(root)
            if path in paths and not self.visited_end(root, path):
                break  # it is being opened already
            paths.append(path)
            node = root
            for token in path:
                node.in_flight[token] = node.in_flight.get(token, 0) + 1
                if token in node.children:
                    node = node.children[token]
        for node in root.walk():
            node.in_flight.clear()
        return paths

    def select_path(self, root: Node) -> Prefix:
        node, path = root, ()
        while not self.rules.finished(node.prefix):
            token = self.select_at_root(node) if node is root else self.select(node)
            path = (*path, token)
            if token not in node.children:
                break
            node = node.children[token]
        return path

    def visited_end(self, root: Node, path: Prefix) -> bool:
        node = root
        for token in path:
            if token not in node.children:
                return False
            node = node.children[token]
        return True

    def land(self, node: Node, path: Prefix) -> float:
        """Go down to a leaf, and on the way back give its value to every node passed."""
        if not path:  # arrived at a finished sentence once more; nothing to expand
            self.charged += 1
            leaf_value = node.own_value
        elif path[0] in node.children:
            leaf_value = self.land(node.children[path[0]], path[1:])
        else:
            node.children[path[0]] = self.new_node((*node.prefix, path[0]))
            leaf_value = node.children[path[0]].own_value
        node.visits += 1
        if self.options.backup == "mean":
            node.value += (leaf_value - node.value) / node.visits
        elif self.options.backup == "max":
            node.value = max(node.value, leaf_value)
        elif path:  # a finished sentence has nothing below it
            node.value = self.from_children(node)
        return leaf_value

    def from_children(self, node: Node) -> float:
        """What the backups that look at children make of them."""
        children, own = node.children.values(), node.own_value
        if self.options.backup == "bellman":
            return max(child.value for child in children)
        if self.options.backup == "weighted-max":
            return max((c.visits * c.value + own) / (c.visits + 1) for c in children)
        power, low = self.options.power, self.lowest
        values = [own, *(child.value for child in children for _ in range(child.visits))]
        above = [max(value - low, 0.0) for value in values]
        return low + (sum(one**power for one in above) / len(above)) ** (1 / power)

    def select_at_root(self, root: Node) -> int:
        if self.options.root == "puct":
            return self.select_by_puct(root)
        return reference_gumbel.select_at_root(root, self.noise(root), self.options)

    def noise(self, root: Node) -> dict[int, float]:
        """Of each token, the same in all simulations."""
        depth, scale = len(root.prefix), self.options.gumbel_scale
        return {
            token: scale * reference_gumbel.gumbel(uniform(self.seed, token, depth))
            for token in root.prior
        }

    def select(self, node: Node) -> int:
        if self.options.below_root == "improved":
            return reference_gumbel.select_below_root(node, self.options)
        return self.select_by_puct(node)

    def select_by_puct(self, node: Node) -> int:
        node_visits = 1 + sum(child.visits for child in node.children.values())
        node_visits += sum(node.in_flight.values())

        def puct(token: int) -> float:
            child = node.children.get(token)
            lost = node.in_flight.get(token, 0)
            visits = 0 if child is None else child.visits
            rescaled = 0.0 if child is None else self.rescale(child.value)
            if child is not None and lost:
                rescaled = rescaled * visits / (visits + lost)
            explored = 1 + visits + lost
            bonus = self.options.c_puct * node.prior[token] * math.sqrt(node_visits) / explored
            return rescaled + bonus

        return max(node.prior, key=lambda token: (puct(token), node.prior[token], -token))

    def rescale(self, value: float) -> float:
        return (value - self.lowest) / max(self.highest - self.lowest, 1e-6)

    def choose(self, root: Node) -> int:
        if self.options.root == "gumbel":
            return reference_gumbel.choose(root, self.noise(root), self.options)

        def worth(token: int) -> float:
            child = root.children[token]
            return child.visits if self.options.choose == "visits" else child.value

        return max(root.children, key=lambda token: (worth(token), root.prior[token], -token))

    def new_node(self, prefix: Prefix) -> Node:
        """Evaluate a prefix: its own value, and its prior unless it is finished."""
        self.charged += 1
        if self.rules.finished(prefix):
            value = self.finished_value(prefix)
            self.finished[prefix] = value
            prior = {}
        else:
            logprobs, value = self.network.both(prefix)
            if self.options.leaf == "rollout":
                value = self.rollout(prefix)
            prior = self.prior(prefix, logprobs)
        self.lowest = min(self.lowest, value)
        self.highest = max(self.highest, value)
        return Node(prefix, value, prior)

    def prior(self, prefix: Prefix, logprobs: list[float]) -> dict[int, float]:
        policy = tempered(logprobs, self.rules.allowed(prefix), self.options.temperature)
        best_first = sorted(policy, key=lambda token: (-policy[token], token))
        return {token: policy[token] for token in best_first[: self.options.actions]}

    def finished_value(self, tokens: Prefix) -> float:
        if self.options.leaf == "rollout" or self.options.terminal == "metric":
            return self.metric(self.sentence, tokens)
        return self.network.value(tokens)

    def rollout(self, prefix: Prefix) -> float:
        """The metric of the greedy completion; every token of it is charged."""
        while not self.rules.finished(prefix):
            logprobs = self.network.logprobs(prefix)
            allowed = self.rules.allowed(prefix)
            prefix = (*prefix, max(allowed, key=lambda token: (logprobs[token], -token)))
            self.charged += 1
        self.finished[prefix] = self.metric(self.sentence, prefix)
        return self.finished[prefix]
