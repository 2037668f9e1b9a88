"""Beam search, and value-guided beam search (He et al. 2017; Leblond et al. 2021, section 4.2).

A step of value-guided beam search evaluates those of its k² proposals that may be kept, and these
evaluations hold the next step's policies, so that a step costs at most k² evaluations and not the
k + k² it is charged for. Policies are read of the k that go on alone: an output layer costs as much
as a small decoder. Without a value (beam search, or α = 0) a step costs k.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairseq_mcts.search import beam_kernels as kernels
from fairseq_mcts.search.beam_recording import BeamRecording
from fairseq_mcts.search.constraints import per_sentence
from fairseq_mcts.search.decoder import Run
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.options import Count
from fairseq_mcts.search.results import Evaluations
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.store import TreeStore
from fairseq_mcts.search.tree import NO_NODE, Int32, release_branch


class BeamSearch(TreeStore):
    """Both beam searches on all sentences at once; see `driver.Search`."""

    def __init__(
        self,
        run: Run,
        *,
        width: Count,
        rules: kernels.Rules,
        with_values: bool = False,  # whether the rules rank by values too
        temperature: float = 1.0,  # of the policy
    ) -> None:
        widths = per_sentence("beam", width, run.num_sentences)
        widest = int(widths.max(initial=1))
        actions = run.actions(widest + 1)
        super().__init__(run.constraints, actions, at_once=run.at_once)
        if len(widths) and run.n_best is not None and run.n_best > widths.min():
            raise ValueError(f"n_best: {run.n_best} is more than the beam of {widths.min()}")
        self._n_best = run.n_best
        self._rules = rules
        self._with_values = self.reads_values = with_values
        self.question = self._policy_and_value = Question(
            actions=actions, temperature=temperature, as_priors=False, value=with_values
        )
        self._value_of_proposals = replace(self.question, policy=False)
        self._policy_of_beams = replace(self.question, value=False, policy_only=True)
        self._beams = _new_beams(widths, widest)
        # sentences that have joined, and whose empty prefix is evaluated but for its policy
        self._entering = np.zeros(0, np.int32)
        self._recording = None
        if run.recorder is not None:
            self._recording = BeamRecording(run.recorder, rules, with_values=with_values)

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        wanted, count = np.empty(0, np.int32), 0
        while count == 0 and len(self._active):
            wanted = np.empty(self._make_room_for_step(), np.int32)
            if self._recording is not None:
                self._recording.before_step(self.tree, self._beams, self._active)
            count = kernels.advance(
                self.tree, self._beams, self._active, self._rules, self._with_values, wanted
            )
            if self._recording is not None:
                self._recording.after_step(self.tree, self._beams)
            self._collect_finished()
        joining = self._join_with_values() if self._with_values else self._roots(self.join())
        slots = np.concatenate([wanted[:count], joining])
        return self.constraints.requests(self.tree, slots), ()

    def _join_with_values(self) -> Int32:
        """Decides what is asked now; slots of sentences that join, to be asked about as well.

        All active sentences are at the same point of a step. Others join when values are asked for
        and become active when policies are.
        """
        if not len(self._active) and not len(self._entering):
            self.question = self._policy_and_value
            return self._roots(self.join())
        if len(self._active) and self._beams.phase[self._active[0]] != kernels.PROPOSING:
            self.question = self._value_of_proposals
            new = self.take_waiting(self._at_once - len(self._active) - len(self._entering))
            self._entering = np.concatenate([self._entering, new])
            return self._roots(new)
        self.question = self._policy_of_beams
        entering, self._entering = self._entering, np.zeros(0, np.int32)
        self._active = np.concatenate([self._active, entering])
        return self._beams.node[entering, 0]

    def _make_room_for_step(self) -> int:
        """Room for what the next call creates; how many slots it may ask about."""
        widths = self._beams.width[self._active].astype(np.int64)
        if not self._with_values:
            # at most k proposals finish and k go on
            self.make_room(int(2 * widths.sum()))
            return int(widths.sum())
        proposals = int((widths * (widths + 1)).sum())
        phase = self._beams.phase[self._active[0]]
        if phase == kernels.PROPOSING:
            # each beam proposes eos at most once
            self.make_room(int(2 * widths.sum()))
        elif phase == kernels.COMPARING:
            self.make_room(proposals)
        return proposals

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        if self.question.value and answers.values.max() > self._rules.highest_value:
            raise ValueError(
                f"highest_value: is {self._rules.highest_value}, but there is a value of "
                f"{answers.values.max()}"
            )
        self.store_answers(requests, answers, self.question)

    def _roots(self, sentences: Int32) -> Int32:
        """Slots of the empty prefixes of sentences that begin."""
        self.make_room(len(sentences))
        for sentence in sentences.tolist():
            self._beams.node[sentence, 0] = self.new_root(sentence)
            self._beams.num_beams[sentence] = 1
            self._beams.made[sentence] = 1
        return self._beams.node[sentences, 0]

    def evaluations(self, sentence: int) -> Evaluations:
        beams = self._beams
        return Evaluations(int(beams.charged[sentence]), int(beams.made[sentence]))

    def _collect_finished(self) -> None:
        """Takes finished sentences out of the batch and frees what they held."""
        beams = self._beams
        done = beams.phase[self._active] == kernels.FINISHED
        for sentence in self._active[done].tolist():
            count = int(beams.num_finished[sentence])
            evaluations = self.evaluations(sentence)
            nodes = beams.finished_node[sentence, :count]
            hypotheses = [
                self.hypothesis(
                    int(node),
                    value=float(self.tree.value[node]) if self._with_values else None,
                    score=float(score),
                    evaluations=evaluations,
                )
                for node, score in zip(nodes, beams.finished_score[sentence, :count], strict=True)
            ]
            # a stable sort: of equal scores, what was finished first
            hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
            self.finish(sentence, hypotheses[: self._n_best])
            for node in nodes:
                release_branch(self.tree, int(node))
        self._active = self._active[~done]


def _new_beams(width: Int32, widest: int) -> kernels.Beams:
    sentences = len(width)
    table, wide_table = (sentences, widest), (sentences, widest * (widest + 1))
    return kernels.Beams(
        phase=np.full(sentences, kernels.PROPOSING, np.int32),
        width=width,
        num_beams=np.zeros(sentences, np.int32),
        node=np.full(table, NO_NODE, np.int32),
        total=np.zeros(table, np.float64),
        num_finished=np.zeros(sentences, np.int32),
        finished_node=np.full(table, NO_NODE, np.int32),
        finished_score=np.zeros(table, np.float64),
        num_proposals=np.zeros(sentences, np.int32),
        proposal_beam=np.zeros(wide_table, np.int32),
        proposal_action=np.zeros(wide_table, np.int32),
        proposal_total=np.zeros(wide_table, np.float64),
        proposal_node=np.full(wide_table, NO_NODE, np.int32),
        charged=np.zeros(sentences, np.int64),
        made=np.zeros(sentences, np.int64),
    )
