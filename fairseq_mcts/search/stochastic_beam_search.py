"""Samples without replacement: stochastic beam search (Kool et al. 2019).

n distinct sentences, drawn as if from an urn, by the perturbed log-probabilities of
`stochastic_beam_kernels`. A step evaluates the prefixes that go on, n at most; they all differ, so
what is charged is what is made.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairseq_mcts.search import stochastic_beam_kernels as kernels
from fairseq_mcts.search.constraints import per_sentence
from fairseq_mcts.search.decoder import Run
from fairseq_mcts.search.evaluator import Answers, Question, Requests, SamplingFilter
from fairseq_mcts.search.options import Count
from fairseq_mcts.search.random_numbers import seeds_of_sentences
from fairseq_mcts.search.results import Evaluations
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.store import TreeStore
from fairseq_mcts.search.tree import NO_NODE, Float64, Int32, release_branch


class StochasticBeamSearch(TreeStore):
    """Sampling without replacement on all sentences at once; see `driver.Search`."""

    def __init__(
        self,
        run: Run,
        *,
        samples: Count,
        rank_by: str,  # "value", "metric", or "none": in the order drawn
        temperature: float = 1.0,
        sampling: SamplingFilter = SamplingFilter(),
    ) -> None:
        super().__init__(run.constraints, num_actions=0, at_once=run.at_once)
        self._rank_by = rank_by
        self.reads_values = rank_by == "value"
        self._n_best = run.n_best
        self._recorder = run.recorder
        self.question = Question(
            actions=0,
            temperature=temperature,
            as_priors=True,
            value=rank_by == "value",
            sampling=sampling,
            distinct=True,
        )
        widths = per_sentence("samples", samples, self.num_sentences)
        self._beams = _new_beams(widths, seeds_of_sentences(run.seed, self.num_sentences))
        self._proposals = _new_proposals(int(widths.max(initial=1)))
        self._answers: Answers | None = None
        # sentences that are drawn, while values or scores of their beams are out
        self._unscored: list[int] = []

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        if self._answers is not None:
            self._extend(self._answers)
        drawn = self._take_drawn()
        self._begin_next()
        slots, rows, uniforms = self._list_draws()
        candidates: list[Candidate] = []
        if self._rank_by == "metric":
            candidates = self.candidates(self._nodes(drawn))
            self._unscored = drawn
        elif self._rank_by == "value":
            slots = np.concatenate([slots, self._nodes(drawn)])
            for sentence in drawn:
                self._beams.made[sentence] += self._beams.num_beams[sentence]
            self._unscored = drawn
        else:
            for sentence in drawn:
                self._finish(sentence, None)
        return self.constraints.requests(self.tree, slots, rows, uniforms), candidates

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        self._answers = answers
        if self._rank_by == "value":
            count = sum(int(self._beams.num_beams[sentence]) for sentence in self._unscored)
            self._finish_unscored(answers.values[len(answers.values) - count :])

    def receive_scores(self, scores: Float64) -> None:
        self._finish_unscored(scores)

    def _begin_next(self) -> None:
        new = self.join()
        self.make_room(len(new))
        for sentence in new.tolist():
            kernels.begin(self._beams, sentence, self.new_root(sentence))

    def _extend(self, answers: Answers) -> None:
        self.make_room(int(self._beams.width[self._active].sum()))
        kernels.extend(
            self.tree,
            self._beams,
            self._active,
            answers.drawn_tokens,
            answers.drawn_logprobs,
            answers.drawn_shares,
            answers.drawn_left,
            self.constraints.eos,
            self._proposals,
        )

    def _list_draws(self) -> tuple[Int32, Int32, Float64]:
        widths = self._beams.width[self._active].astype(np.int64)
        slots = np.empty(int(widths.sum()), np.int32)
        rows = np.empty(int((widths * (widths + 1)).sum()), np.int32)
        uniforms = np.empty(len(rows), np.float64)
        count, draws = kernels.list_draws(self._beams, self._active, slots, rows, uniforms)
        return slots[:count], rows[:draws], uniforms[:draws]

    def _take_drawn(self) -> list[int]:
        """Takes sentences whose samples are all there out of the batch."""
        beams = self._beams
        in_use = np.arange(beams.node.shape[1]) < beams.num_beams[self._active, None]  # [a, k]
        going_on = (in_use & ~beams.finished[self._active]).any(axis=1)
        drawn = self._active[~going_on].tolist()
        self._active = self._active[going_on]
        return drawn

    def _nodes(self, sentences: Sequence[int]) -> Int32:
        """The slots of all beams of these sentences."""
        beams = self._beams
        nodes = [beams.node[one, : beams.num_beams[one]] for one in sentences]
        return np.concatenate([*nodes, np.zeros(0, np.int32)]).astype(np.int32)

    def evaluations(self, sentence: int) -> Evaluations:
        made = int(self._beams.made[sentence])
        return Evaluations(made, made)

    def _finish_unscored(self, scores: Float64) -> None:
        """Ranks the sentences that values or scores were asked for, which come in their order."""
        begin = 0
        for sentence in self._unscored:
            count = int(self._beams.num_beams[sentence])
            self._finish(sentence, scores[begin : begin + count].tolist())
            begin += count
        self._unscored = []

    def _finish(self, sentence: int, scores: list[float] | None) -> None:
        beams = self._beams
        count = int(beams.num_beams[sentence])
        hypotheses = []
        for beam in range(count):
            score = None if scores is None else scores[beam]
            found = self.hypothesis(
                int(beams.node[sentence, beam]), score, 0.0, self.evaluations(sentence)
            )
            weight = inclusion_weight(
                float(beams.log_share[sentence, beam]), float(beams.threshold[sentence])
            )
            # without a score the likelihood stands in for it
            ranked_by = found.logprob if score is None else score
            hypotheses.append(replace(found, score=ranked_by, weight=weight))
        if self._recorder is not None and self._recorder.wants(sentence):
            self._recorder.see_samples(sentence, list(hypotheses))
        if scores is not None:
            # a stable sort of samples in their order: of equal ones the earlier sample
            hypotheses.sort(key=lambda hypothesis: (-hypothesis.score, -hypothesis.logprob))
        self.finish(sentence, hypotheses[: self._n_best])
        for node in beams.node[sentence, :count].tolist():
            release_branch(self.tree, node)


def inclusion_weight(log_share: float, threshold: float) -> float:
    """A sentence's probability over the probability that it is among the samples.

    Its G exceeds the threshold κ with probability q = 1 - exp(-exp(log p - κ)). Sums of f · p / q
    over the samples are unbiased estimates of the mean of f.
    """
    if threshold == -math.inf:
        return math.exp(log_share)  # nothing was left out
    excess = log_share - threshold
    if excess < -30.0:  # q is exp(excess) to the last bit
        return math.exp(threshold)
    included = 1.0 if excess > 30.0 else -math.expm1(-math.exp(excess))
    return math.exp(log_share) / included


def _new_beams(widths: Int32, seeds: kernels.Int64) -> kernels.Beams:
    sentences, widest = len(widths), int(widths.max(initial=1))
    table = (sentences, widest)
    return kernels.Beams(
        width=widths,
        seed=seeds,
        steps=np.zeros(sentences, np.int32),
        num_beams=np.zeros(sentences, np.int32),
        node=np.full(table, NO_NODE, np.int32),
        finished=np.zeros(table, np.bool_),
        log_share=np.zeros(table, np.float64),
        perturbed=np.zeros(table, np.float64),
        threshold=np.full(sentences, -math.inf),
        made=np.zeros(sentences, np.int64),
    )


def _new_proposals(widest: int) -> kernels.Proposals:
    most = widest * (widest + 1)
    return kernels.Proposals(
        beam=np.zeros(most, np.int32),
        token=np.zeros(most, np.int32),
        logprob=np.zeros(most, np.float64),
        log_share=np.zeros(most, np.float64),
        perturbed=np.zeros(most, np.float64),
    )
