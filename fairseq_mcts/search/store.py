"""What all searches share: the tree with its room, and the storing of answers in it."""

from dataclasses import replace

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.constraints import Constraints
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.results import Evaluations, Hypothesis
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.tree import (
    NO_NODE,
    NO_TOKEN,
    Float64,
    Int32,
    Tree,
    allocate,
    enlarged_tree,
    new_tree,
    path_slots,
    prefix_tokens,
)

FIRST_CAPACITY = 64
# rows of memory beyond what is in use are wasted, copies at each growth cost time
GROWTH = 1.25


class TreeStore:
    """A growing prefix tree under fixed constraints."""

    reads_values = True  # whether the evaluator is asked for values

    def __init__(
        self,
        constraints: Constraints,
        num_actions: int,
        capacity: int = FIRST_CAPACITY,
        at_once: int | None = None,
    ) -> None:
        self.constraints = constraints
        self.tree: Tree = new_tree(capacity, num_actions)
        self._results: list[list[Hypothesis]] = [[] for _ in range(self.num_sentences)]
        self._at_once = self.num_sentences if at_once is None else at_once
        self._active = np.zeros(0, np.int32)  # sentences that are begun and not yet finished
        self._next = 0  # sentence that is begun next

    @property
    def num_sentences(self) -> int:
        return len(self.constraints.max_len)

    def join(self) -> Int32:
        """Makes sentences active in the places of those that are finished: the new ones."""
        new = self.take_waiting(self._at_once - len(self._active))
        self._active = np.concatenate([self._active, new])
        return new

    def take_waiting(self, most: int) -> Int32:
        """The next sentences that have not begun, in their order."""
        end = min(self._next + most, self.num_sentences)
        new = np.arange(self._next, end, dtype=np.int32)
        self._next = end
        return new

    def finish(self, sentence: int, hypotheses: list[Hypothesis]) -> None:
        """Takes the results of a sentence, best first."""
        self._results[sentence] = hypotheses

    def results(self) -> list[list[Hypothesis]]:
        """See `driver.Search`."""
        return self._results

    def finished_so_far(self, sentence: int) -> list[Hypothesis]:
        """See `driver.Search`: those that the tree holds, with the network's value where known."""
        live = np.ones(self.tree.capacity, np.bool_)  # [N]
        live[self.tree.free[: self.tree.free_count[0]]] = False
        ended = (self.tree.sentence == sentence) & (self.tree.token == self.constraints.eos)
        found = []
        for node in np.flatnonzero(live & ended).tolist():
            known = self.reads_values and self.tree.prefixes["known"][node]
            value = float(self.tree.value[node]) if known else None
            one = self.hypothesis(node, value, 0.0, self.evaluations(sentence))
            found.append(replace(one, score=one.logprob if value is None else value))
        return found

    def evaluations(self, sentence: int) -> Evaluations:
        """Network evaluations of a sentence so far; none of searches that do not count them."""
        return Evaluations(0, 0)

    def receive_scores(self, scores: Float64) -> None:
        """For searches that ask for scores."""
        raise AssertionError(f"{type(self).__name__} asks for no scores")

    def make_room(self, slots: int) -> bool:
        """Makes sure that `slots` more prefixes fit; whether the tree had to grow."""
        lacking = slots - int(self.tree.free_count[0])
        if lacking <= 0:
            return False
        capacity = self.tree.capacity
        self.tree = enlarged_tree(self.tree, max(capacity + lacking, int(capacity * GROWTH)))
        return True

    @property
    def num_bytes(self) -> int:
        """Memory of the arrays that grow with the number of prefixes."""
        return sum(field.nbytes for field in self.tree)

    def new_root(self, sentence: int) -> int:
        """A slot for the empty prefix of `sentence`; there must be room."""
        return int(allocate(self.tree, sentence, NO_NODE, 0, NO_TOKEN, 0.0))

    def store_answers(self, requests: Requests, answers: Answers, question: Question) -> None:
        """Writes what the evaluator said into the tree."""
        if question.policy:
            _store_policies(
                self.tree,
                requests.slots,
                answers.num_actions,
                answers.action_tokens,
                answers.action_logprobs,
                answers.weights,
            )
        if not question.policy_only:
            _store_values(self.tree, requests.slots, answers.values)

    def candidates(self, nodes: Int32) -> list[Candidate]:
        """The finished sentences that end in the slots `nodes` [n], for the metric."""
        if not len(nodes):
            return []
        slots = path_slots(self.tree, nodes)[:, 1:]  # [n, L]
        logprobs = np.where(slots == NO_NODE, 0.0, self.tree.logprob[slots])
        # term by term, so that a sum does not depend on the longest sentence beside it
        totals = np.add.accumulate(logprobs, axis=1)[:, -1]
        columns = (self.tree.sentence[nodes].tolist(), prefix_tokens(self.tree, nodes))
        return [Candidate(*row) for row in zip(*columns, totals.tolist(), strict=True)]

    def hypothesis(
        self, node: int, value: float | None, score: float, evaluations: Evaluations
    ) -> Hypothesis:
        """The finished sentence that ends in the slot `node`."""
        slots = path_slots(self.tree, np.array([node], np.int32))[0, 1:]
        logprobs = self.tree.logprob[slots].tolist()
        return Hypothesis(
            tokens=tuple(self.tree.token[slots].tolist()),
            logprob=sum(logprobs),
            positional_logprobs=tuple(logprobs),
            value=value,
            score=score,
            evaluations=evaluations,
        )


@compiled
def _store_policies(
    tree: Tree,
    slots: Int32,  # [n]
    num_actions: Int32,  # [n]
    tokens: Int32,  # [n, A]
    logprobs: np.ndarray,  # [n, A]
    weights: np.ndarray,  # [n, A]
) -> None:
    for row in range(len(slots)):
        slot = slots[row]
        prefix = tree.prefixes[slot]
        prefix.has_policy = True
        prefix.num_actions = num_actions[row]
        for place in range(num_actions[row]):
            action = tree.actions[slot, place]
            action.token = tokens[row, place]
            action.logprob = logprobs[row, place]
            action.weight = weights[row, place]
            action.child = NO_NODE


@compiled
def _store_values(tree: Tree, slots: Int32, values: Float64) -> None:  # [n], [n]
    for row in range(len(slots)):
        tree.prefixes[slots[row]].known = True
        tree.prefixes[slots[row]].value = values[row]
