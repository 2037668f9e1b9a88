"""Sampling and reranking: S+R by a metric, S+RV by the value (Leblond et al. 2021, section 4.3).

All samples of a sentence grow by one token a step, and those that agree so far share one prefix:
each distinct prefix is evaluated once, at the step at which samples pass through it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairseq_mcts.search import sampling_kernels as kernels
from fairseq_mcts.search.constraints import per_sentence
from fairseq_mcts.search.decoder import Run
from fairseq_mcts.search.evaluator import Answers, Question, Requests, SamplingFilter
from fairseq_mcts.search.options import Count
from fairseq_mcts.search.random_numbers import seeds_of_sentences
from fairseq_mcts.search.results import Evaluations, Hypothesis
from fairseq_mcts.search.scorer import Candidate
from fairseq_mcts.search.store import TreeStore
from fairseq_mcts.search.tree import NO_NODE, Float64, Int32, release_branch


class SampleSearch(TreeStore):
    """Sampling on all sentences at once; see `driver.Search`."""

    def __init__(
        self,
        run: Run,
        *,
        samples: Count,
        rank_by: str,  # "value", "metric", or "none": all samples as they were drawn
        temperature: float = 1.0,
        sampling: SamplingFilter = SamplingFilter(),
    ) -> None:
        # draws are made by the evaluator, from the whole distribution: no actions are kept
        super().__init__(run.constraints, num_actions=0, at_once=run.at_once)
        self._by_value = rank_by == "value"
        self._unranked = rank_by == "none"
        self._n_best = run.n_best
        self._recorder = run.recorder
        self.question = Question(
            actions=0,
            temperature=temperature,
            as_priors=True,
            value=self._by_value,
            sampling=sampling,
        )
        counts = per_sentence("samples", samples, self.num_sentences)
        longest = int(run.constraints.max_len.max(initial=0)) + 1
        seeds = seeds_of_sentences(run.seed, self.num_sentences)
        self._samples = _new_samples(counts, seeds, longest)
        self._answers: Answers | None = None
        self._draw_owner = np.zeros(0, np.int32)
        self._draw_sentence = np.zeros(0, np.int32)
        # sentences whose samples are all there, with their distinct texts, while scores are out
        self._unscored: list[tuple[int, dict[tuple[int, ...], int]]] = []

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        slots = np.zeros(0, np.int32) if self._answers is None else self._extend(self._answers)
        candidates = self._collect_finished()
        return self._with_draws(np.concatenate([slots, self._begin_next()])), candidates

    def receive_answers(self, requests: Requests, answers: Answers) -> None:
        self.tree.value[requests.slots] = answers.values
        self.tree.prefixes["known"][requests.slots] = True
        self._answers = answers

    def receive_scores(self, scores: Float64) -> None:
        begin = 0
        for sentence, distinct in self._unscored:
            self._rank(sentence, distinct, scores[begin : begin + len(distinct)].tolist())
            begin += len(distinct)
        self._unscored = []

    def _begin_next(self) -> Int32:
        """Empty prefixes of the sentences that join."""
        new = self.join()
        self.make_room(len(new))
        roots = np.array([self.new_root(one) for one in new], np.int32)
        for sentence, root in zip(new, roots, strict=True):
            self._samples.node[sentence, : self._samples.num_samples[sentence]] = root
            self._samples.made[sentence] = 1
        return roots

    def _extend(self, answers: Answers) -> Int32:
        """Appends what was drawn; the new prefixes."""
        samples = self._samples
        old_slots = np.unique(samples.node[self._active])
        self.make_room(len(answers.drawn_tokens))
        wanted = np.empty(len(answers.drawn_tokens), np.int32)
        for sentence in self._active.tolist():
            kernels.take_values(self.tree, samples, sentence)
        count = kernels.extend(
            self.tree,
            samples,
            self._active,
            answers.drawn_tokens,
            answers.drawn_logprobs,
            self._draw_owner,
            self._draw_sentence,
            self.constraints.eos,
            self._by_value,
            wanted,
        )
        for slot in old_slots[old_slots != NO_NODE].tolist():
            release_branch(self.tree, slot)  # no sample goes on through it
        return wanted[:count]

    def _with_draws(self, slots: Int32) -> Requests:
        row_of_slot = np.zeros(self.tree.capacity, np.int32)
        row_of_slot[slots] = np.arange(len(slots), dtype=np.int32)
        room = int((self._samples.node[self._active] != NO_NODE).sum())
        rows, owners, sentences = (np.empty(room, np.int32) for _ in range(3))
        uniforms = np.empty(room, np.float64)
        kernels.list_draws(
            self._samples, self._active, row_of_slot, rows, owners, sentences, uniforms
        )
        self._draw_owner, self._draw_sentence = owners, sentences
        return self.constraints.requests(self.tree, slots, rows, uniforms)

    def _collect_finished(self) -> list[Candidate]:
        """Takes sentences without unfinished samples out; what is to be scored of them."""
        samples = self._samples
        going_on = (samples.node[self._active] != NO_NODE).any(axis=1)
        going_on |= (samples.end_node[self._active] != NO_NODE).any(axis=1)
        candidates: list[Candidate] = []
        for sentence in self._active[~going_on].tolist():
            if self._unranked:
                self._show(sentence, {})
                self.finish(sentence, self._in_order(sentence))
                continue
            distinct = self._distinct(sentence)
            if self._by_value:
                values = [float(samples.value[sentence, sample]) for sample in distinct.values()]
                self._rank(sentence, distinct, values)
            else:
                self._unscored.append((sentence, distinct))
                candidates.extend(
                    Candidate.of(sentence, self._hypothesis(sentence, sample))
                    for sample in distinct.values()
                )
        self._active = self._active[going_on]
        return candidates

    def _tokens(self, sentence: int, sample: int) -> tuple[int, ...]:
        length = self._samples.length[sentence, sample]
        return tuple(self._samples.token[sentence, sample, :length].tolist())

    def _in_order(self, sentence: int) -> list[Hypothesis]:
        """The first `n_best` samples as they were drawn."""
        count = int(self._samples.num_samples[sentence])
        return [self._hypothesis(sentence, sample) for sample in range(count)[: self._n_best]]

    def _distinct(self, sentence: int) -> dict[tuple[int, ...], int]:
        """The sentences that were sampled, each with its first sample."""
        samples = self._samples
        distinct: dict[tuple[int, ...], int] = {}
        for sample in range(samples.num_samples[sentence]):
            distinct.setdefault(self._tokens(sentence, sample), sample)
        return distinct

    def _rank(
        self, sentence: int, distinct: dict[tuple[int, ...], int], scores: list[float]
    ) -> None:
        self._show(sentence, dict(zip(distinct, scores, strict=True)))
        drawn = range(self._samples.num_samples[sentence])
        counts = Counter(self._tokens(sentence, sample) for sample in drawn)
        hypotheses = [
            replace(self._hypothesis(sentence, sample, score), weight=float(counts[tokens]))
            for (tokens, sample), score in zip(distinct.items(), scores, strict=True)
        ]
        # a stable sort of samples in their order: of equal ones the earlier sample
        hypotheses.sort(key=lambda hypothesis: (-hypothesis.score, -hypothesis.logprob))
        self.finish(sentence, hypotheses[: self._n_best])

    def _show(self, sentence: int, scores: dict[tuple[int, ...], float]) -> None:
        """Shows a recorder all samples as they were drawn."""
        if self._recorder is None or not self._recorder.wants(sentence):
            return
        drawn = range(self._samples.num_samples[sentence])
        each = [scores.get(self._tokens(sentence, sample)) for sample in drawn]
        samples = [self._hypothesis(sentence, *one) for one in zip(drawn, each, strict=True)]
        self._recorder.see_samples(sentence, samples)

    def _hypothesis(self, sentence: int, sample: int, score: float | None = None) -> Hypothesis:
        """A sample with its score; without one its likelihood stands in for it."""
        samples = self._samples
        tokens = self._tokens(sentence, sample)
        logprobs = tuple(samples.logprob[sentence, sample, : len(tokens)].tolist())
        total = sum(logprobs)
        ranked_by = total if score is None else score
        return Hypothesis(tokens, total, logprobs, score, ranked_by, self.evaluations(sentence))

    def evaluations(self, sentence: int) -> Evaluations:
        samples = self._samples
        return Evaluations(int(samples.charged[sentence]), int(samples.made[sentence]))

    def finished_so_far(self, sentence: int) -> list[Hypothesis]:
        samples = self._samples
        found = []
        for tokens, sample in self._distinct(sentence).items():
            if self.constraints.eos in tokens:
                has_value = self._by_value and samples.end_node[sentence, sample] == NO_NODE
                value = float(samples.value[sentence, sample]) if has_value else None
                found.append(self._hypothesis(sentence, sample, value))
        return found


def _new_samples(counts: Int32, seeds: kernels.Int64, longest: int) -> kernels.Samples:
    sentences = len(counts)
    most = int(counts.max(initial=0))
    return kernels.Samples(
        num_samples=counts,
        seed=seeds,
        position=np.zeros(sentences, np.int32),
        node=np.full((sentences, most), NO_NODE, np.int32),
        length=np.zeros((sentences, most), np.int32),
        token=np.zeros((sentences, most, longest), np.int32),
        logprob=np.zeros((sentences, most, longest), np.float64),
        value=np.zeros((sentences, most), np.float64),
        end_node=np.full((sentences, most), NO_NODE, np.int32),
        charged=np.zeros(sentences, np.int64),
        made=np.zeros(sentences, np.int64),
    )
