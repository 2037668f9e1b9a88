"""Grown completions: translations of a source whose prefixes all have the score that they promise.

The first row is the greedy translation. Each further row takes an earlier one of its source,
changes one token to another of the policy's best, and goes on greedily. So the score of a row is
what its prefixes from the changed token on promise: the score of their own greedy completion.
Shorter prefixes are those of the row that it grew from, and have its labels. The prefixes that a
search asks for are of this kind: one step off a likely path.

All rows of a batch's sources share one prefix tree, which lives through all rounds: no prefix is
evaluated twice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fairseq_mcts.relabelling.rows import LabelledRow, Tokens
from fairseq_mcts.search.constraints import Constraints
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.store import TreeStore
from fairseq_mcts.search.tree import NO_NODE, Float64, allocate

# a mother is the best of so many rows, so that rows drift to where searches live
_CONTESTS = (1, 2, 4)
_EOS_SHARE = 0.08  # of changes end the sentence: what a search must not do too early
_UNIFORM_AMONG = 7  # half of the changes take any of so many; the others go by √probability
_TRIES = 8  # to find a change that was not made yet


class Growth(NamedTuple):
    """How many rows are grown."""

    rounds: int = 4  # a round's rows grow from those of earlier rounds
    rows_per_round: int = 2  # of each source
    best_tokens: int = 12  # a token is changed to one of so many


@dataclass
class _Row:
    """A row on its way."""

    sentence: int
    number: int  # among the rows of its sentence
    method: str
    nodes: list[int]  # slots of its prefixes of 0, 1, … tokens
    tokens: list[int]
    first: int | None  # None: the finished sentence, however long it gets
    forced: Tokens = ()  # what it is to become, if that is known
    score: float = field(default=float("nan"))

    def labelled(self) -> LabelledRow:
        assert self.first is not None
        return LabelledRow(tuple(self.tokens), self.method, self.first, self.score)


class CompletionSearch(TreeStore):
    """Grows rows of all sentences at once; see `driver.Search`.

    Rounds are those of the batch, so that the metric is asked for many rows at a time; what grows
    of a sentence depends on the sentence and its seed alone.
    """

    def __init__(
        self,
        constraints: Constraints,
        growth: Growth,
        seeds: Sequence[int],
        found: Sequence[Sequence[Tokens]] | None = None,
    ) -> None:
        """`found` are translations of each sentence that a search has found: rows themselves, and
        rows grow from them too."""
        super().__init__(constraints, growth.best_tokens)
        self.question = Question(actions=growth.best_tokens, as_priors=False, value=False)
        self._growth = growth
        self._found = [()] * self.num_sentences if found is None else found
        self._dice = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
        self._rows: list[dict[Tokens, _Row]] = [{} for _ in seeds]  # finished and scored
        self._made = [0] * self.num_sentences  # rows begun
        self._round = 0
        self._walking: list[_Row] = []
        self._unscored: list[_Row] = []
        self._wanted: list[int] = []  # new slots
        self._children: dict[tuple[int, int], int] = {}  # (slot, token) -> slot
        self._completed: set[int] = set()  # slots whose greedy completion is a row
        self._ended: set[int] = set()  # slots after which eos makes a row
        self._changes: set[tuple[int, int]] = set()  # (slot, token) that a row was grown by

    def labelled_rows(self) -> list[list[LabelledRow]]:
        """The rows of each sentence, the greedy one first."""
        return [
            [row.labelled() for row in sorted(rows.values(), key=lambda row: row.number)]
            for rows in self._rows
        ]

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        while True:
            self._walk()
            if self._wanted:
                slots = np.array(self._wanted, np.int32)
                self._wanted = []
                return self.constraints.requests(self.tree, slots), ()
            if self._unscored or self._round > self._growth.rounds:
                # no metric that reads log-probabilities is asked
                candidates = [
                    Candidate(row.sentence, tuple(row.tokens), math.nan) for row in self._unscored
                ]
                return self.constraints.requests(self.tree, np.zeros(0, np.int32)), candidates
            self._begin_round()

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        self.store_answers(requests, answers, self.question)

    def receive_scores(self, scores: Float64) -> None:
        for row, score in zip(self._unscored, scores.tolist(), strict=True):
            row.score = score
        self._unscored = []

    def _begin_round(self) -> None:
        if self._round == 0:
            self._begin()
        else:
            for sentence in range(self.num_sentences):
                # of earlier rounds alone, in their order
                mothers = sorted(self._rows[sentence].values(), key=lambda row: row.number)
                for _ in range(self._growth.rows_per_round):
                    self._grow(sentence, mothers)
        self._round += 1

    def _begin(self) -> None:
        """The greedy translation of each sentence, and those that were found."""
        self.make_room(self.num_sentences)
        for sentence in range(self.num_sentences):
            root = self.new_root(sentence)
            self._wanted.append(root)
            self._add(sentence, "greedy", [root], [], 0)
            for tokens in self._found[sentence]:
                self._add(sentence, "search", [root], [], None, forced=tokens)

    def _add(
        self,
        sentence: int,
        method: str,
        nodes: list[int],
        tokens: list[int],
        first: int | None,
        forced: Tokens = (),
    ) -> None:
        number = self._made[sentence]
        self._made[sentence] += 1
        row = _Row(sentence, number, method, nodes, tokens, first, forced)
        if tokens and tokens[-1] == self.constraints.eos:
            self._finish(row)
        else:
            self._walking.append(row)

    # -- walking down the tree --

    def _walk(self) -> None:
        """Leads each row on until it ends or stands at a prefix that is not evaluated yet."""
        self.make_room(len(self._walking))  # each row adds one prefix at most
        known, best = self.tree.prefixes["known"], self.tree.actions["token"][:, 0]  # [N]
        waiting = []
        for row in self._walking:
            while known[row.nodes[-1]] and not self._has_ended(row):
                place = len(row.tokens)
                token = row.forced[place] if row.forced else int(best[row.nodes[-1]])
                row.tokens.append(token)
                if token != self.constraints.eos:
                    row.nodes.append(self._child(row.sentence, row.nodes[-1], token))
            if self._has_ended(row):
                self._finish(row)
            else:
                waiting.append(row)
        self._walking = waiting

    def _has_ended(self, row: _Row) -> bool:
        return bool(row.tokens) and row.tokens[-1] == self.constraints.eos

    def _child(self, sentence: int, node: int, token: int) -> int:
        child = self._children.get((node, token), NO_NODE)
        if child == NO_NODE:
            # neither the action nor its probability is read again
            child = int(allocate(self.tree, sentence, node, 0, token, 0.0))
            self._children[node, token] = child
            self._wanted.append(child)
        return child

    def _finish(self, row: _Row) -> None:
        self._ended.add(row.nodes[-1])
        if row.first is None:
            row.first = len(row.tokens)
        else:
            self._completed.update(row.nodes[row.first :])
        # what was found may be a greedy completion too: then its score counts from there on
        other = self._rows[row.sentence].setdefault(tuple(row.tokens), row)
        if other is row:
            self._unscored.append(row)
        else:
            assert other.first is not None  # it is finished
            other.first = min(other.first, row.first)

    # -- growing --

    def _grow(self, sentence: int, mothers: Sequence[_Row]) -> None:
        """One more row of the sentence, if a change is found that was not made yet."""
        dice = self._dice[sentence]
        for _ in range(_TRIES):
            contest = _CONTESTS[int(dice.integers(len(_CONTESTS)))]
            places = dice.integers(len(mothers), size=contest).tolist()
            mother = max((mothers[place] for place in places), key=lambda row: row.score)
            cut = int(dice.integers(len(mother.tokens)))
            token = self._changed(mother, cut, dice)
            if token is None:
                continue
            node = mother.nodes[cut]
            self._changes.add((node, token))
            nodes, tokens = mother.nodes[: cut + 1], [*mother.tokens[:cut], token]
            self.make_room(1)
            if token != self.constraints.eos:
                nodes.append(self._child(sentence, node, token))
            self._add(sentence, "completion", nodes, tokens, cut + 1)
            return

    def _changed(self, mother: _Row, cut: int, dice: np.random.Generator) -> int | None:
        """The token in place of the mother's at `cut`; None if there is none that is new."""
        eos, node, old = self.constraints.eos, mother.nodes[cut], mother.tokens[cut]
        if old != eos and self._is_new(node, old) and dice.random() < 0.5:
            return old  # of what was found: what does this very prefix promise?
        may_end = cut >= self.constraints.min_len[mother.sentence] and self._is_new(node, eos)
        if dice.random() < _EOS_SHARE and may_end:
            return eos
        actions = self.tree.actions[node, : self.tree.prefixes["num_actions"][node]]
        new = [
            place
            for place, token in enumerate(actions["token"].tolist())
            if token != old and self._is_new(node, token)
        ]
        if not new:
            return None
        if dice.random() < 0.5:
            weights = np.exp(0.5 * actions["logprob"][new])
        else:
            weights = np.ones(min(len(new), _UNIFORM_AMONG))
        below = np.cumsum(weights)
        place = int(np.searchsorted(below, dice.random() * below[-1], side="right"))
        return int(actions["token"][new[min(place, len(below) - 1)]])

    def _is_new(self, node: int, token: int) -> bool:
        """Whether no row goes on greedily after this prefix and this token."""
        if (node, token) in self._changes:
            return False
        if token == self.constraints.eos:
            return node not in self._ended
        return self._children.get((node, token), NO_NODE) not in self._completed
