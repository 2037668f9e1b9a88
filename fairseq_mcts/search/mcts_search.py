"""Monte Carlo tree search over prefixes: V-MCTS and MCTS with rollouts.

Leblond et al. 2021, section 4.2 and appendix; the exact rules are those of AlphaZero's search with
values rescaled by what the current tree has seen. Per output token: S simulations, each one walk
down and one walk up (two down where a policy has to be read on the way). Time O(S · depth · A) in
compiled code, besides at most S evaluations.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search import mcts_kernels as kernels
from fairseq_mcts.search import mcts_records as records
from fairseq_mcts.search.constraints import per_sentence
from fairseq_mcts.search.decoder import Run
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.mcts_guesses import TRIES, add_guesses
from fairseq_mcts.search.mcts_rules import chosen_action
from fairseq_mcts.search.options import Count
from fairseq_mcts.search.random_numbers import seeds_of_sentences
from fairseq_mcts.search.results import Evaluations, Hypothesis, Step
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.snapshot import TreeSnapshot, take_snapshot
from fairseq_mcts.search.store import TreeStore
from fairseq_mcts.search.tree import (
    Float64,
    Int32,
    Records,
    enlarged,
    path_slots,
    release_branch,
)

# prefixes; a larger tree grows when it has to
LARGEST_FIRST_CAPACITY = 2**18


class MctsSearch(TreeStore):
    """MCTS on all sentences at once; see `driver.Search`."""

    def __init__(
        self,
        run: Run,
        *,
        simulations: Count,  # per output token
        actions: int,  # of each node
        temperature: float,  # of the prior
        rules: records.Rules,
        prefetch: int = 0,  # fill calls of the evaluator up to so many prefixes; not for rollouts
    ) -> None:
        actions = run.actions(actions)
        counts = per_sentence("simulations", simulations, run.num_sentences)
        # what the first token takes, if few simulations end in finished sentences
        first = int((1 + counts[: run.at_once].astype(np.int64)).sum())
        capacity = min(first, LARGEST_FIRST_CAPACITY)
        super().__init__(run.constraints, actions, capacity, run.at_once)
        self._policy_and_value = Question(
            actions=actions, temperature=temperature, as_priors=True, value=not rules.rollouts
        )
        # a rollout needs the policy of every prefix it comes to
        self._leaf = replace(self._policy_and_value, policy=rules.rollouts)
        self.reads_values = not rules.rollouts
        self._policy = replace(self._policy_and_value, value=False, policy_only=True)
        self.question = self._leaf
        self._n_best = run.n_best
        self._trace = run.trace
        self._watcher = run.watcher
        self._recorder = run.recorder
        # [sentence] slots in which the simulations for the current token ended
        self._landed: list[list[int]] = [[] for _ in range(run.num_sentences)]
        self._rules = rules
        self._statistics = _new_statistics(self.tree.capacity, actions)
        self._states = _new_states(counts, seeds_of_sentences(run.seed, run.num_sentences))
        self._leaves = np.zeros((self.num_sentences, rules.leaves), records.LEAF)
        self._prefetch = prefetch
        self._scored_slots = np.zeros(0, np.int32)
        self._steps: list[list[Step]] = [[] for _ in range(self.num_sentences)]
        # finished sentences met on the way, if more than one is wanted: tokens -> hypothesis
        self._met: list[dict[tuple[int, ...], Hypothesis]] = [{} for _ in range(self.num_sentences)]
        self._answered = np.zeros(0, np.int32)  # those that can go on
        self._begin_next()

    def _begin_next(self) -> None:
        """Begins the trees of sentences that join."""
        new = self.join()
        self.make_room(len(new))
        for sentence in new.tolist():
            root = self.new_root(sentence)
            kernels.forget(self._statistics, root)
            kernels.start_tree(
                self._statistics, self._states[sentence], self._leaves[sentence], root
            )
        self._run(new)  # up to the evaluation of their roots

    def make_room(self, slots: int) -> bool:
        grown = super().make_room(slots)
        if grown:
            self._statistics = enlarged(self._statistics, self.tree.capacity)
        return grown

    @property
    def num_bytes(self) -> int:
        return super().num_bytes + sum(field.nbytes for field in self._statistics)

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        unread = self._run(self._answered)
        self._collect_finished()
        if len(unread):
            # first those, so that their sentences have a place in the next call of the network too
            self.question = self._policy
            requests = self.constraints.requests(self.tree, unread)
            self._answered = requests.sentences
            return requests, ()
        self._answered = self._active
        if self._rules.score_finished:
            self._scored_slots = self._wanted(records.SCORE)
        candidates = self.candidates(self._scored_slots)
        slots = self._to_evaluate()  # may replace the tree by a larger one
        return self.constraints.requests(self.tree, slots), candidates

    def _to_evaluate(self) -> Int32:
        """The slots that active sentences wait for, and guesses beside them if they are few."""
        wanted = self._wanted(records.EVALUATION)
        if len(wanted) >= self._prefetch:
            self.question = self._leaf
            return wanted
        self.question = self._policy_and_value
        self.make_room(TRIES * self._prefetch)
        slots = np.empty(self._prefetch, np.int32)
        count = add_guesses(self.tree, self._statistics, self._states, self._rules, wanted, slots)
        return slots[:count]

    def _run(self, sentences: Int32) -> Int32:
        """Lets these sentences go on; the slots whose policies some of them wait for."""
        unread, count = np.empty(len(sentences), np.int32), 0
        while len(sentences):
            # a leaf creates at most one prefix before it has to wait
            self.make_room(len(sentences) * self._rules.leaves)
            count += kernels.advance(
                self.tree,
                self._statistics,
                self._states,
                self._leaves,
                sentences,
                self._rules,
                unread[count:],
            )
            if not self._rules.pause_when_decided:
                break
            phases = self._states["phase"][sentences]
            landed, decided = phases == records.LANDED, phases == records.DECIDED
            for sentence in sentences[landed].tolist():
                self._note_landings(sentence)
            for sentence in sentences[decided].tolist():
                self._look_at_decision(sentence)
            sentences = sentences[landed | decided]
        return unread[:count]

    def _wanted(self, what: int) -> Int32:
        """Slots that active sentences wait for."""
        slots = np.empty(len(self._active) * self._rules.leaves, np.int32)
        count = kernels.write_wanted(self._states, self._leaves, self._active, what, slots)
        return slots[:count]

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        self.store_answers(requests, answers, self.question)

    def receive_scores(self, scores: Float64) -> None:
        self._statistics.nodes["score"][self._scored_slots] = scores

    def _note_landings(self, sentence: int) -> None:
        """Notes in which slots the simulations ended that are done since the last pause."""
        noted = self._landed[sentence]
        new = int(self._states[sentence]["simulations_done"]) + 1 - len(noted)
        noted += self._leaves[sentence]["slot"][:new].tolist()

    def _look_at_decision(self, sentence: int) -> None:
        """Takes from a token's whole search tree what was asked for: trace, snapshot, sentences."""
        root = int(self._states[sentence]["root"])
        step = int(self.tree.depth[root]) + 1
        if self._watcher is not None and self._watcher.wants(sentence, step):
            self._watcher.see(self._snapshot(sentence))
        if self._recorder is not None and self._recorder.wants(sentence):
            self._recorder.see_tree(self._snapshot(sentence))
        self._landed[sentence].clear()
        if self._trace:
            self._steps[sentence].append(self._step(self._states[sentence]))
        if self._n_best != 1:
            for node in self._visited_finished(sentence):
                hypothesis = self._finished(int(node))
                self._met[sentence].setdefault(hypothesis.tokens, hypothesis)

    def _snapshot(self, sentence: int) -> TreeSnapshot:
        state, landed = self._states[sentence], self._landed[sentence]
        return take_snapshot(self.tree, self._statistics, state, self._rules, landed)

    def _step(self, state: records.State) -> Step:
        tree, statistics, root = self.tree, self._statistics, int(state["root"])
        action = chosen_action(tree, statistics, state, root, self._rules)
        children = statistics.children[root]
        return Step(
            token=int(tree.actions[root, action]["token"]),
            children={
                int(tree.actions[root, one]["token"]): (
                    int(children[one]["visits"]),
                    float(children[one]["q"]),
                )
                for one in range(tree.prefixes[root]["num_actions"])
                if children[one]["visits"] > 0
            },
        )

    def _visited_finished(self, sentence: int) -> Int32:
        """Slots of the finished sentences in the current search tree, ends of rollouts too."""
        live = np.ones(self.tree.capacity, np.bool_)
        live[self.tree.free[: self.tree.free_count[0]]] = False
        ended = live & (self.tree.sentence == sentence) & (self.tree.token == self._rules.eos)
        if self._rules.score_finished:
            met = ~np.isnan(self._statistics.nodes["score"])
        else:
            met = self._statistics.nodes["tree_number"] == self._states[sentence]["tree_number"]
        return np.flatnonzero(ended & met).astype(np.int32)

    def _finished(self, node: int) -> Hypothesis:
        sentence = int(self.tree.sentence[node])
        value = self._statistics.nodes["score"] if self._rules.score_finished else self.tree.value
        return self.hypothesis(
            node,
            value=float(value[node]),
            score=float(value[node]),
            evaluations=self.evaluations(sentence),
        )

    def evaluations(self, sentence: int) -> Evaluations:
        state = self._states[sentence]
        return Evaluations(int(state["charged"]), int(state["made"]))

    def finished_so_far(self, sentence: int) -> list[Hypothesis]:
        found = {one.tokens: one for one in super().finished_so_far(sentence)}
        return [*({**found, **self._met[sentence]}).values()]

    def _collect_finished(self) -> None:
        """Takes finished sentences out of the batch and frees what they held."""
        if not kernels.num_finished(self._states, self._active):
            return
        done = self._states["phase"][self._active] == records.FINISHED
        for sentence in self._active[done].tolist():
            node = int(self._states[sentence]["root"])
            path = path_slots(self.tree, np.array([node], np.int32))[0, 1:]
            best = replace(
                self._finished(node),
                steps=tuple(self._steps[sentence]),
                visits=tuple(self._statistics.nodes["visits_when_chosen"][path].tolist()),
            )
            others = [
                replace(other, evaluations=best.evaluations)  # of the whole search
                for tokens, other in self._met[sentence].items()
                if tokens != best.tokens
            ]
            others.sort(key=lambda other: (-other.score, -other.logprob, other.tokens))
            self.finish(sentence, [best, *others][: self._n_best])
            self._met[sentence].clear()
            release_branch(self.tree, node)
        self._active = self._active[~done]
        self._begin_next()


def _new_statistics(capacity: int, actions: int) -> records.Statistics:
    return records.Statistics(
        nodes=np.zeros(capacity, records.NODE),
        children=np.zeros((capacity, actions), records.CHILD),
    )


def _new_states(simulations: Int32, seeds: NDArray[np.int64]) -> Records:  # [S], [S]
    """[S] of STATE"""
    states = np.zeros(len(simulations), records.STATE)
    states["simulations"] = simulations
    states["seed"] = seeds
    return states
