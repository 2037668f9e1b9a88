"""Random searches: a toy model, limits, a decoder with options, sane or extreme or wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairseq_mcts.search import decode, decoder_class, decoder_names
from fairseq_mcts.search.options import OptionInfo
from tests.fuzz.choices import Choices, chance, some_of
from tests.search.toy_models import (
    ENDINGS,
    POLICIES,
    VALUES,
    Prefix,
    ToyEvaluator,
    ToyMetric,
    ToyModel,
    ToyProblem,
)

#: what values are multiplied by: as they are, hardly different, and beyond what squares fit
SCALES = (1.0, 1.0, 1.0, 1e-12, 1e9, 1e200)
#: for options that are numbers and have no grid of their own
PLAIN_NUMBERS = (0.0, 1e-9, 0.01, 0.25, 0.5, 0.9, 0.999, 1.0, 1.1, 2.0, 3.7, 16.0)
EXTREME_NUMBERS = (1e-300, 1e-30, 1e3, 1e30, 1e300, -1.0, -1e30, math.inf, math.nan)
PLAIN_COUNTS = (1, 1, 2, 3, 4, 5, 7, 9)
EXTREME_COUNTS = (0, -1, 17, 40, 1000)
#: how many of a hundred options are set to something extreme, which may be refused
EXTREME_SHARE = 3
#: options whose large values only take time: no more than this
MOST = {"simulations": 40, "samples": 40, "beam": 17}


@dataclass(frozen=True)
class SearchCase:
    """Everything that a call of `decode` is given."""

    problem: ToyProblem
    search: str
    options: dict[str, Any]
    metric: ToyMetric
    scale: float  # of values and of the metric
    n_best: int
    seed: int | tuple[int, ...]
    trace: bool
    budget: int | None

    @property
    def num_sentences(self) -> int:
        return len(self.problem.sentence_ids)

    def of(self, indices: Sequence[int]) -> SearchCase:
        """The same with these of its sentences, in this order."""
        seed = self.seed if isinstance(self.seed, int) else tuple(self.seed[i] for i in indices)
        options = {
            name: [given[index] for index in indices] if isinstance(given, list) else given
            for name, given in self.options.items()
        }
        return replace(self, problem=self.problem.of(indices), options=options, seed=seed)

    def run(self) -> tuple[list[list[Any]], ToyEvaluator]:
        """The hypotheses of each sentence, and the record of what was evaluated."""
        problem = self.problem
        model = ScaledModel(problem.model, self.scale)
        evaluate = ToyEvaluator(model, problem.model.eos, problem.sentence_ids)
        given: dict[str, Any] = {**problem.decode_options(), **self.options}
        if decoder_class(self.search).may_use_metric():
            given["metric"] = self._metric()
        if self.trace:
            given["trace"] = True
        if self.budget is not None:
            given["budget"] = self.budget
        seed = self.seed if isinstance(self.seed, int) else list(self.seed)
        results = decode(
            evaluate,
            self.num_sentences,
            search=self.search,
            n_best=self.n_best,
            seed=seed,
            **given,
        )
        return results, evaluate

    def _metric(self) -> Any:
        names = self.problem.sentence_ids
        if decoder_class(self.search).compares_finished:
            return Utility(self.metric, names, self.scale)
        return Score(self.metric, names, self.scale)


class ScaledModel:
    """A toy model whose values are multiplied."""

    def __init__(self, model: ToyModel, scale: float) -> None:
        self._model, self._scale = model, scale

    def __call__(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        logprobs, value = self._model(sentence, prefix)
        return logprobs, value * self._scale


class Score:
    """A toy metric of finished sentences, asked with sentence numbers."""

    def __init__(self, metric: ToyMetric, names: tuple[int, ...], scale: float) -> None:
        self.batched = metric.batched
        self._metric, self._names, self._scale = metric, names, scale

    def __call__(self, sentence: Any, tokens: Any) -> Any:
        if self.batched:
            return [self._one(*pair) for pair in zip(sentence, tokens, strict=True)]
        return self._one(sentence, tokens)

    def _one(self, sentence: int, tokens: Prefix) -> float:
        return self._metric.score(self._names[sentence], tokens) * self._scale


class Utility(Score):
    """The same of pairs of finished sentences, for decoders that compare these."""

    batched = False

    def __init__(self, metric: ToyMetric, names: tuple[int, ...], scale: float) -> None:
        super().__init__(replace(metric, batched=False), names, scale)

    def __call__(self, sentence: int, tokens: Prefix, other: Prefix = ()) -> float:
        return self._one(sentence, (*tokens, -1, *other))

    def aggregated(self, comparisons: Any) -> list[list[float]]:
        return [
            [self._one(one.sentence, one.tokens) for one in comparison.hypotheses]
            for comparison in comparisons
        ]


def random_case(choices: Choices) -> SearchCase:
    """Any search on any toy problem."""
    problem = random_problem(choices)
    count = len(problem.sentence_ids)
    search = choices.one_of(decoder_names())
    cls = decoder_class(search)
    options = {
        name: _random_value(choices, name, info, count)
        for name, info in cls.option_infos().items()
        # counts are always set: their defaults are for networks
        if name in MOST or chance(choices, 40)
    }
    budget = None
    if cls.budget_option is not None and chance(choices, 5):
        del options[cls.budget_option]
        budget = choices.integer(1, 30)
    least = min(np.atleast_1d(options.get("beam", 9)))  # no beam gives more than its width
    n_best = choices.one_of((1, 1, 2, 3, 9))
    n_best = n_best if chance(choices, 3) else max(1, min(n_best, int(least)))
    a_seed = (0, 1, 7, 2**31, 2**63 - 1)
    seeds = tuple(choices.one_of(a_seed) for _ in range(count))
    return SearchCase(
        problem,
        search,
        options,
        metric=ToyMetric(choices.integer(0, 2**16), choices.one_of(VALUES), chance(choices, 50)),
        scale=choices.one_of(SCALES),
        n_best=n_best,
        seed=seeds if chance(choices, 50) else seeds[0],
        trace=cls.builds_trees and chance(choices, 30),
        budget=budget,
    )


def _random_value(choices: Choices, name: str, info: OptionInfo, sentences: int) -> Any:
    """A value for an option, read off what the decoder says about it."""
    extreme = chance(choices, EXTREME_SHARE)
    if info.choices:
        return "nonsense" if extreme else choices.one_of(info.choices)
    if name == "candidates":
        return choices.one_of(("sampling", "sampling", *decoder_names()))
    if name == "value_bounds":
        plain = ((1e-6, 1.0), (0.1, 0.7), (1e-300, 1e300))
        return choices.one_of(((0.0, 1.0), (1.0, 0.5), (0.1,)) if extreme else plain)
    if info.flag_type is bool:
        return chance(choices, 50)
    if info.flag_type is float:
        plain = [one for one in PLAIN_NUMBERS if info.check is None or info.check(one) is None]
        return choices.one_of(EXTREME_NUMBERS if extreme else (*plain, info.default))
    return _random_count(choices, name, sentences, extreme)


def _random_count(choices: Choices, name: str, sentences: int, extreme: bool) -> Any:
    most = MOST.get(name, 1000)
    counts = [min(one, most) for one in (EXTREME_COUNTS if extreme else PLAIN_COUNTS)]
    if name in MOST and chance(choices, 20):
        return [choices.one_of(counts) for _ in range(sentences)]
    return choices.one_of(counts)


def random_problem(choices: Choices) -> ToyProblem:
    """Limits of all kinds together: they may contradict one another or leave no token over."""
    vocab = choices.integer(2, 12)
    model = ToyModel(
        vocab=vocab,
        eos=choices.integer(0, vocab - 1),
        seed=choices.integer(0, 2**32 - 1),
        policy=choices.one_of(POLICIES),
        ending=choices.one_of(ENDINGS),
        values=choices.one_of(VALUES),
    )
    names = tuple(choices.integer(0, 99) for _ in range(choices.integer(1, 3)))
    words = [token for token in range(vocab) if token != model.eos]
    max_len = choices.integer(1, 6)
    forbidden = some_of(choices, words, len(words)) if chance(choices, 30) else []
    # a word that is forbidden, or eos, may be among them
    at_hand = words if chance(choices, 95) else range(vocab)
    prefixes = None
    if chance(choices, 30):
        prefixes = tuple(_random_prefix(choices, at_hand, forbidden, max_len) for _ in names)
    return ToyProblem(
        model,
        names,
        max_len=_own_lengths(choices, names, max_len),
        min_len=choices.integer(0, max_len) if chance(choices, 30) else 0,
        forbidden=tuple(forbidden),
        prefixes=prefixes,
        no_repeat_ngram_size=choices.integer(1, 3) if chance(choices, 25) else 0,
    )


def _random_prefix(choices: Choices, words: Any, forbidden: list[int], max_len: int) -> Prefix:
    allowed = [word for word in words if word not in forbidden] or list(words)
    return tuple(choices.one_of(allowed) for _ in range(choices.integer(0, max_len)))


def _own_lengths(choices: Choices, names: tuple[int, ...], max_len: int) -> int | tuple[int, ...]:
    if not chance(choices, 30):
        return max_len
    return tuple(max_len + choices.integer(0, 2) for _ in names)
