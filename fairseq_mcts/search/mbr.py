"""Minimum Bayes risk: which finished sentence is most like all that the model might say.

Expected utilities of candidates, with the candidates themselves as references. They come from all
sentences of a batch together, so that a metric can embed each text once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.scorer import Candidate, Comparison, Scorer
from fairseq_mcts.search.tree import Float64

# Cheng and Vlachos 2023: references in the first round, each later one has twice as many, and
# resamplings of them by which the confidence is estimated
FIRST_REFERENCES = 8
RESAMPLINGS = 500

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Candidates:
    """What a search has finished for one sentence, each text once."""

    hypotheses: list[Hypothesis]  # [H] in the order in which they were found first
    drawn: Indices  # [R] references in the order in which they were found: places in `hypotheses`
    weights: Float64  # [R] of the references

    @staticmethod
    def of(finished: Sequence[Hypothesis], *, by_probability: bool) -> "Candidates":
        """References weigh what they were drawn with, or what the model's probability is."""
        places: dict[tuple[int, ...], int] = {}
        drawn = [places.setdefault(one.tokens, len(places)) for one in finished]
        first = [drawn.index(place) for place in range(len(places))]
        distinct = [finished[index] for index in first]
        if by_probability:
            logprobs = np.array([one.logprob for one in distinct])
            weights = np.exp(logprobs - logprobs.max())
            return Candidates(distinct, np.arange(len(distinct)), weights)
        weights = np.array([one.weight for one in finished])
        return Candidates(distinct, np.array(drawn), usable_weights(weights))

    def comparison(self, sentence: int, hypotheses: Indices, references: Indices) -> Comparison:
        """These hypotheses against these, which weigh what all their draws do."""
        texts = [Candidate.of(sentence, one) for one in self.hypotheses]
        return Comparison(
            [texts[place] for place in hypotheses],
            [texts[place] for place in references],
            self._weights_of_texts()[references],
        )

    def _weights_of_texts(self) -> Float64:
        """[H] the weights of the references, of which the sum is 1."""
        totals = self._totals()
        return totals / totals.sum()

    def _totals(self) -> Float64:
        """[H] the weights of the references, added up over draws."""
        totals = np.zeros(len(self.hypotheses))
        np.add.at(totals, self.drawn, self.weights)
        return totals

    def ranked(self, places: Indices, utilities: Float64) -> list[Hypothesis]:
        """These hypotheses, best first; of equal ones the likelier, then the earlier."""
        drawn = self._totals().tolist()
        scored = [
            replace(self.hypotheses[place], utility=utility, score=utility, weight=drawn[place])
            for place, utility in zip(places.tolist(), utilities.tolist(), strict=True)
        ]
        return sorted(scored, key=lambda one: (-one.score, -one.logprob))


def rank_by_utility(
    batch: Sequence[Candidates], scorer: Scorer, *, aggregated: bool
) -> list[list[Hypothesis]]:
    """Each sentence's candidates by their expected utility."""
    everything = [np.arange(len(one.hypotheses)) for one in batch]
    comparisons = [
        one.comparison(sentence, places, places)
        for sentence, (one, places) in enumerate(zip(batch, everything, strict=True))
    ]
    if aggregated:
        expected = scorer.compare_aggregated(comparisons)
    else:
        found = scorer.compare(comparisons)
        expected = [
            expected_utilities(utilities, comparison.weights)
            for utilities, comparison in zip(found, comparisons, strict=True)
        ]
    columns = (batch, everything, expected)
    return [one.ranked(places, scores) for one, places, scores in zip(*columns, strict=True)]


def rank_by_pruning(
    batch: Sequence[Candidates], scorer: Scorer, *, confidence: float
) -> list[list[Hypothesis]]:
    """The same among those that are left when the others have hardly a chance to be the best.

    Cheng and Vlachos 2023: after every round of references, hypotheses go that beat the best one
    in at most 1 - `confidence` of the resamplings of these references.
    """
    rounds = [_Pruning(sentence, one, confidence) for sentence, one in enumerate(batch)]
    while active := [one for one in rounds if not one.is_done]:
        found = scorer.compare([one.next_comparison() for one in active])
        for pruning, utilities in zip(active, found, strict=True):
            pruning.receive(utilities)
    return [one.result() for one in rounds]


class _Pruning:
    """The rounds of one sentence."""

    def __init__(self, sentence: int, candidates: Candidates, confidence: float) -> None:
        self._sentence = sentence
        self._candidates = candidates
        self._confidence = confidence
        count = len(candidates.hypotheses)
        self._left = np.arange(count)  # hypotheses
        self._known = np.zeros(count, np.bool_)  # references that all of them were compared with
        self._utilities = np.zeros((count, count))  # [H, H] of the known ones
        self._used = min(FIRST_REFERENCES, len(candidates.drawn))  # draws in this round
        self.is_done = False

    def next_comparison(self) -> Comparison:
        return self._candidates.comparison(self._sentence, self._left, self._new_references())

    def _new_references(self) -> Indices:
        drawn = np.unique(self._candidates.drawn[: self._used])
        return drawn[~self._known[drawn]]

    def receive(self, utilities: Float64) -> None:
        """Takes the utilities [H, R] of the last comparison, and prunes."""
        new = self._new_references()
        self._utilities[np.ix_(self._left, new)] = utilities
        self._known[new] = True
        self._prune()
        # rounds that only draw texts which were drawn before need no metric
        while not self.is_done and not len(self._new_references()):
            self._prune()

    def _prune(self) -> None:
        """Ends a round."""
        total = len(self._candidates.drawn)
        weights = self._candidates.weights[: self._used]
        keep = survivors(self._of_draws(), weights, self._confidence, seed=self._used)
        self._left = self._left[keep]
        self.is_done = self._used == total or len(self._left) == 1
        if not self.is_done:
            self._used = min(2 * self._used, total)

    def _of_draws(self) -> Float64:
        """[H, R] utilities of the hypotheses that are left against the draws of this round."""
        drawn = self._candidates.drawn[: self._used]
        return self._utilities[np.ix_(self._left, drawn)]

    def result(self) -> list[Hypothesis]:
        expected = expected_utilities(self._of_draws(), self._candidates.weights[: self._used])
        return self._candidates.ranked(self._left, expected)


def expected_utilities(utilities: Float64, weights: Float64) -> Float64:
    """[H] the weighted mean of utilities [H, R] over references with weights [R]."""
    weights = usable_weights(weights)
    # no product of matrices: it may round equal rows differently, and so decide between equals
    mean: Float64 = (utilities * (weights / weights.sum())).sum(axis=1)
    return mean


def usable_weights(weights: Float64) -> Float64:
    """Weights [R], all of them 1 if they are so small that they are rounded to 0."""
    return weights if weights.sum() > 0.0 else np.ones(len(weights))


def survivors(
    utilities: Float64,  # [H, R]
    weights: Float64,  # [R]
    confidence: float,
    seed: int,
) -> NDArray[np.bool_]:
    """[H] which hypotheses are as good as the best in more than 1 - confidence of resamplings."""
    count = utilities.shape[1]
    best = int(np.argmax(expected_utilities(utilities, weights)))
    draws = np.random.default_rng(seed).multinomial(
        count, np.full(count, 1.0 / count), size=RESAMPLINGS
    )  # [B, R] how often each resampling draws each reference
    of_resampling = draws * usable_weights(weights)
    weightless = ~(of_resampling.sum(axis=1) > 0.0)  # they draw nothing but rounded weights
    of_resampling[weightless] = draws[weightless]
    of_resampling /= of_resampling.sum(axis=1, keepdims=True)
    means = np.einsum("hr,br->hb", utilities, of_resampling)  # [H, B], equal rows rounded equally
    wins: Float64 = (means >= means[best]).mean(axis=1)
    kept = wins > 1.0 - confidence
    kept[best] = True  # also if the confidence is so small that 1 less it is 1
    return kept
