"""Grown completions: translations of a source whose prefixes all have the score that they promise.

The first row is the greedy translation. Each further row takes an earlier one of its source,
changes one token to another of the policy's best, and goes on greedily. So the score of a row is
what its prefixes from the changed token on promise: the score of their own greedy completion.
Shorter prefixes are those of the row that it grew from, and have its labels. The prefixes that a
search asks for are of this kind: one step off a likely path.

All rows of a batch's sources share one prefix tree, where a source's prefixes live through all of
its rounds: none is evaluated twice.
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


class Translation(NamedTuple):
    """A translation that a search has found."""

    tokens: Tokens
    logprobs: tuple[float, ...]  # the model's own, of each token


NOTHING = Translation((), ())


@dataclass
class _Row:
    """A row on its way."""

    sentence: int
    number: int  # among the rows of its sentence
    method: str
    nodes: list[int]  # slots of its prefixes of 0, 1, … tokens
    tokens: list[int]
    logprobs: list[float]  # the model's own, of its tokens; NaN of ends that it would not choose
    first: int | None  # None: the finished sentence, however long it gets
    forced: Translation = NOTHING  # what it is to become, if that is known
    score: float = field(default=float("nan"))

    def candidate(self) -> Candidate:
        """It as a metric sees it."""
        return Candidate(self.sentence, tuple(self.tokens), sum(self.logprobs))

    def labelled(self) -> LabelledRow:
        assert self.first is not None
        return LabelledRow(tuple(self.tokens), self.method, self.first, self.score)


class _Growing:
    """A sentence at work: its rows, and what was tried of it."""

    def __init__(self, dice: np.random.Generator) -> None:
        self.dice = dice
        self.rounds = 0  # begun
        self.num_rows = 0  # begun
        self.unfinished = 0  # rows that walk or wait for their scores; one more while they begin
        self.rows: dict[Tokens, _Row] = {}  # finished
        self.slots: list[int] = []  # of its prefixes
        self.children: dict[tuple[int, int], int] = {}  # (slot, token) -> slot
        self.completed: set[int] = set()  # slots whose greedy completion is a row
        self.ended: set[int] = set()  # slots after which eos makes a row
        self.changes: set[tuple[int, int]] = set()  # (slot, token) that a row was grown by

    @property
    def in_order(self) -> list[_Row]:
        """The rows as they were begun."""
        return sorted(self.rows.values(), key=lambda row: row.number)

    def is_new(self, node: int, token: int, eos: int) -> bool:
        """Whether no row goes on greedily after this prefix and this token."""
        if (node, token) in self.changes:
            return False
        if token == eos:
            return node not in self.ended
        return self.children.get((node, token), NO_NODE) not in self.completed


class CompletionSearch(TreeStore):
    """Grows rows of all sentences at once; see `driver.Search`.

    A sentence's next round begins when all rows of the last one are scored, whatever other
    sentences do; so that the metric is asked for many rows at a time, it is asked when as many
    wait for it as walk, or when none walks. What grows of a sentence depends on the sentence and
    its seed alone.
    """

    def __init__(
        self,
        constraints: Constraints,
        growth: Growth,
        seeds: Sequence[int],
        found: Sequence[Sequence[Translation]] | None = None,
        at_once: int | None = None,
        *,
        with_logprobs: bool = False,
    ) -> None:
        """`found` are translations of each sentence that a search has found: rows themselves, and
        rows grow from them too. As many rows walk at the same time as `at_once` sentences have in
        a round, all unless given: the next sentence joins when there is room. `with_logprobs` for
        metrics that read them: sentences then end early only where eos is one of the best tokens,
        for the probabilities of others are not kept."""
        super().__init__(constraints, growth.best_tokens, at_once=at_once)
        self.question = Question(actions=growth.best_tokens, as_priors=False, value=False)
        self._growth = growth
        self._with_logprobs = with_logprobs
        self._found = [()] * self.num_sentences if found is None else found
        self._dice = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
        self._growing: dict[int, _Growing] = {}  # by sentence
        self._idle: list[int] = []  # sentences whose rows are all scored
        self._labelled: list[list[LabelledRow]] = [[] for _ in seeds]
        self._walking: list[_Row] = []
        self._unscored: list[_Row] = []
        self._asked: list[_Row] = []  # that the metric is at work on
        self._wanted: list[int] = []  # new slots

    def labelled_rows(self) -> list[list[LabelledRow]]:
        """The rows of each sentence, the greedy one first."""
        return self._labelled

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        self._walk()
        while self._begin_rounds():
            self._walk()
        slots = np.array(self._wanted, np.int32)
        self._wanted = []
        requests = self.constraints.requests(self.tree, slots)
        if len(slots) and len(self._unscored) < self._most_rows:
            return requests, ()
        self._asked, self._unscored = self._unscored, []
        return requests, [row.candidate() for row in self._asked]

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        self.store_answers(requests, answers, self.question)

    def receive_scores(self, scores: Float64) -> None:
        for row, score in zip(self._asked, scores.tolist(), strict=True):
            row.score = score
            self._done(row.sentence)
        self._asked = []

    @property
    def _most_rows(self) -> int:
        """That walk at the same time."""
        return self._at_once * self._growth.rows_per_round

    # -- rounds --

    def _begin_rounds(self) -> bool:
        """The next round of sentences whose rows are scored, and sentences that join; whether
        there was anything to begin."""
        idle, self._idle = self._idle, []
        for sentence in idle:
            if self._growing[sentence].rounds > self._growth.rounds:
                self._leave(sentence)
            else:
                self._begin_round(sentence)
        new = self.take_waiting(max(0, self._most_rows - len(self._walking))).tolist()
        self.make_room(len(new))
        for sentence in new:
            self._growing[sentence] = _Growing(self._dice[sentence])
            self._begin_round(sentence)
        return bool(idle or new)

    def _begin_round(self, sentence: int) -> None:
        growing = self._growing[sentence]
        growing.unfinished += 1
        if growing.rounds == 0:
            self._begin(sentence)
        else:
            mothers = growing.in_order  # of earlier rounds alone
            for _ in range(self._growth.rows_per_round):
                self._grow(sentence, mothers)
        growing.rounds += 1
        self._done(sentence)

    def _begin(self, sentence: int) -> None:
        """The greedy translation of a sentence, and those that were found."""
        root = self.new_root(sentence)
        self._growing[sentence].slots.append(root)
        self._wanted.append(root)
        self._add(sentence, "greedy", [root], NOTHING, 0)
        for translation in self._found[sentence]:
            self._add(sentence, "search", [root], NOTHING, None, forced=translation)

    def _leave(self, sentence: int) -> None:
        """Keeps the rows of a sentence, and forgets everything else of it."""
        growing = self._growing.pop(sentence)
        self._labelled[sentence] = [row.labelled() for row in growing.in_order]
        count = int(self.tree.free_count[0])
        self.tree.free[count : count + len(growing.slots)] = growing.slots
        self.tree.free_count[0] += len(growing.slots)

    def _add(
        self,
        sentence: int,
        method: str,
        nodes: list[int],
        begun: Translation,  # its first tokens
        first: int | None,
        forced: Translation = NOTHING,
    ) -> None:
        growing = self._growing[sentence]
        tokens, logprobs = list(begun.tokens), list(begun.logprobs)
        row = _Row(sentence, growing.num_rows, method, nodes, tokens, logprobs, first, forced)
        growing.num_rows += 1
        growing.unfinished += 1
        if self._has_ended(row):
            self._finish(row)
        else:
            self._walking.append(row)

    def _done(self, sentence: int) -> None:
        """A row of the sentence needs nothing any more, or all of a round have begun."""
        growing = self._growing[sentence]
        growing.unfinished -= 1
        if not growing.unfinished:
            self._idle.append(sentence)

    # -- walking down the tree --

    def _walk(self) -> None:
        """Leads each row on until it ends or stands at a prefix that is not evaluated yet."""
        self.make_room(len(self._walking))  # each row adds one prefix at most
        known, best = self.tree.prefixes["known"], self.tree.actions[:, 0]  # [N]
        waiting = []
        for row in self._walking:
            while known[row.nodes[-1]] and not self._has_ended(row):
                place, node = len(row.tokens), row.nodes[-1]
                if row.forced.tokens:
                    token, logprob = row.forced.tokens[place], row.forced.logprobs[place]
                else:
                    token, logprob = int(best["token"][node]), float(best["logprob"][node])
                row.tokens.append(token)
                row.logprobs.append(logprob)
                if token != self.constraints.eos:
                    row.nodes.append(self._child(row.sentence, node, token))
            if self._has_ended(row):
                self._finish(row)
            else:
                waiting.append(row)
        self._walking = waiting

    def _has_ended(self, row: _Row) -> bool:
        return bool(row.tokens) and row.tokens[-1] == self.constraints.eos

    def _child(self, sentence: int, node: int, token: int) -> int:
        growing = self._growing[sentence]
        child = growing.children.get((node, token), NO_NODE)
        if child == NO_NODE:
            # neither the action nor its probability is read again
            child = int(allocate(self.tree, sentence, node, 0, token, 0.0))
            growing.children[node, token] = child
            growing.slots.append(child)
            self._wanted.append(child)
        return child

    def _finish(self, row: _Row) -> None:
        growing = self._growing[row.sentence]
        growing.ended.add(row.nodes[-1])
        if row.first is None:
            row.first = len(row.tokens)
        else:
            growing.completed.update(row.nodes[row.first :])
        # what was found may be a greedy completion too: then its score counts from there on
        other = growing.rows.setdefault(tuple(row.tokens), row)
        if other is row:
            self._unscored.append(row)
        else:
            assert other.first is not None  # it is finished
            other.first = min(other.first, row.first)
            self._done(row.sentence)

    # -- growing --

    def _grow(self, sentence: int, mothers: Sequence[_Row]) -> None:
        """One more row of the sentence, if a change is found that was not made yet."""
        growing = self._growing[sentence]
        dice = growing.dice
        for _ in range(_TRIES):
            contest = _CONTESTS[int(dice.integers(len(_CONTESTS)))]
            places = dice.integers(len(mothers), size=contest).tolist()
            mother = max((mothers[place] for place in places), key=lambda row: row.score)
            cut = int(dice.integers(len(mother.tokens)))
            changed = self._changed(mother, cut, dice)
            if changed is None:
                continue
            token, logprob = changed
            node = mother.nodes[cut]
            growing.changes.add((node, token))
            nodes = mother.nodes[: cut + 1]
            begun = Translation((*mother.tokens[:cut], token), (*mother.logprobs[:cut], logprob))
            self.make_room(1)
            if token != self.constraints.eos:
                nodes.append(self._child(sentence, node, token))
            self._add(sentence, "completion", nodes, begun, cut + 1)
            return

    def _changed(
        self, mother: _Row, cut: int, dice: np.random.Generator
    ) -> tuple[int, float] | None:
        """The token in place of the mother's at `cut`, and its log-probability; None if there is
        none that is new."""
        growing, eos = self._growing[mother.sentence], self.constraints.eos
        node, old = mother.nodes[cut], mother.tokens[cut]
        if old != eos and growing.is_new(node, old, eos) and dice.random() < 0.5:
            # of what was found: what does this very prefix promise?
            return old, mother.logprobs[cut]
        actions = self.tree.actions[node, : self.tree.prefixes["num_actions"][node]]
        may_end = cut >= self.constraints.min_len[mother.sentence]
        if dice.random() < _EOS_SHARE and may_end and growing.is_new(node, eos, eos):
            ends = actions["logprob"][actions["token"] == eos].tolist()
            if ends or not self._with_logprobs:
                return eos, ends[0] if ends else math.nan
        new = [
            place
            for place, token in enumerate(actions["token"].tolist())
            if token != old and growing.is_new(node, token, eos)
        ]
        if not new:
            return None
        if dice.random() < 0.5:
            weights = np.exp(0.5 * actions["logprob"][new])
        else:
            weights = np.ones(min(len(new), _UNIFORM_AMONG))
        below = np.cumsum(weights)
        place = int(np.searchsorted(below, dice.random() * below[-1], side="right"))
        chosen = actions[new[min(place, len(below) - 1)]]
        return int(chosen["token"]), float(chosen["logprob"])
