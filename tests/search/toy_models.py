"""Toy models: deterministic functions (sentence, prefix) -> (log-probabilities, value).

Everything follows from integers by a hash, so a model needs no table, any prefix can be asked for
in any order, and a failing example is reproduced from its printed fields alone.

Log-probabilities are multiples of 2**-20. Their sums are then exact in float64, so equal sums are
equal to the last bit whatever the order of summation, and rounding can never decide a tie.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

_MASK = (1 << 64) - 1
_GRID = 2.0**20  # log-probabilities are multiples of 1 / _GRID

POLICIES = ("flat", "peaked", "uniform", "levels")
ENDINGS = ("fair", "at_once", "never")
# How u in [0, 1) becomes a value.
_VALUE_OF: dict[str, Callable[[float], float]] = {
    "random": lambda u: u,
    "constant": lambda u: 0.5,
    "zero": lambda u: 0.0,
    "levels": lambda u: math.floor(5 * u) / 4,
    "negative": lambda u: -u,
    "signed_levels": lambda u: (math.floor(5 * u) - 2) / 2,
    "mostly_zero": lambda u: 0.0 if u < 0.6 else u,
    # a spread far below the 1e-6 that Q is divided by at least
    "narrow": lambda u: 0.5 + 1e-8 * u,
}
VALUES = tuple(_VALUE_OF)
# The most that each can be.
_HIGHEST = {"constant": 0.5, "zero": 0.0, "negative": 0.0, "narrow": 0.5 + 1e-8}

Prefix = tuple[int, ...]


def mix(number: int) -> int:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def unit(number: int) -> float:
    """A number in [0, 1) from the upper bits of a hash, a multiple of 2**-30."""
    return (mix(number) >> 34) / 2.0**30


@dataclass(frozen=True)
class ToyModel:
    """A policy and a value for every prefix of every sentence."""

    vocab: int
    eos: int
    seed: int
    policy: str = "flat"
    ending: str = "fair"
    values: str = "random"
    _memory: dict[tuple[int, Prefix], tuple[np.ndarray, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __call__(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        """The log-probabilities [V] of the next token and the value of the prefix."""
        key = (sentence, prefix)
        if key not in self._memory:
            self._memory[key] = self._compute(sentence, prefix)
        return self._memory[key]

    def _compute(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        state = hash_of(self.seed, sentence, prefix)
        logits = [self._logit(unit(state + 1 + token)) for token in range(self.vocab)]
        others = [logits[token] for token in range(self.vocab) if token != self.eos]
        if self.ending == "at_once":
            logits[self.eos] = max(others) + 4.0
        elif self.ending == "never":
            logits[self.eos] = min(others) - 25.0
        log_total = math.log(sum(math.exp(logit) for logit in logits))
        logprobs = [round((logit - log_total) * _GRID) / _GRID for logit in logits]
        return np.array(logprobs), _VALUE_OF[self.values](unit(state))

    @property
    def highest_value(self) -> float:
        return _HIGHEST.get(self.values, 1.0)

    def _logit(self, u: float) -> float:
        if self.policy == "flat":
            return 0.5 * u
        if self.policy == "peaked":
            return 12.0 * u
        if self.policy == "levels":
            return (0.0, -0.7, -2.1)[math.floor(3 * u)]
        return 0.0


def hash_of(seed: int, sentence: int, tokens: Sequence[int]) -> int:
    state = mix(mix(seed) ^ sentence)
    for token in tokens:
        state = mix(state ^ (token + 1))
    return state


@dataclass(frozen=True)
class ToyMetric:
    """A score for every finished sentence. `batched` turns on the batched calling form."""

    seed: int
    kind: str = "random"
    batched: bool = False

    def score(self, sentence: int, tokens: Prefix) -> float:
        return _VALUE_OF[self.kind](unit(hash_of(self.seed ^ 0x5EED, sentence, tokens)))

    def __call__(self, sentence: Any, tokens: Any) -> Any:
        if self.batched:
            return [self.score(s, t) for s, t in zip(sentence, tokens, strict=True)]
        return self.score(sentence, tokens)


class ToyEvaluator:
    """The `evaluate` of the public interface on top of a toy model; keeps a record of the requests.

    `sentence_ids[i]` is the model's name for sentence i: the same sentence can so be decoded alone
    (as number 0) and in a batch (as number i). The log-probabilities of a finished sentence must
    not be read: they are NaN here.
    """

    def __init__(self, model: Any, eos: int, sentence_ids: Sequence[int]) -> None:
        self.model = model
        self.eos = eos
        self.sentence_ids = list(sentence_ids)
        self.asked: dict[int, list[Prefix]] = defaultdict(list)
        self.calls: list[list[tuple[int, Prefix]]] = []

    def __call__(
        self, sentences: list[int], prefixes: list[Prefix]
    ) -> tuple[np.ndarray, np.ndarray]:
        assert len(sentences) == len(prefixes) > 0, "an empty or lopsided request"
        rows = []  # [n, V]
        values = []  # [n]
        for sentence, prefix in zip(sentences, prefixes, strict=True):
            assert isinstance(prefix, tuple)
            assert self.eos not in prefix[:-1], f"asked beyond the end: {prefix}"
            logprobs, value = self.model(self.sentence_ids[sentence], prefix)
            finished = prefix[-1:] == (self.eos,)
            rows.append(np.full_like(logprobs, np.nan) if finished else logprobs)
            values.append(value)
            self.asked[sentence].append(prefix)
        self.calls.append(list(zip(sentences, prefixes, strict=True)))
        return np.stack(rows), np.array(values)


@dataclass(frozen=True)
class ToyProblem:
    """A toy model, the sentences to decode, and the limits that every search respects.

    Lengths are one number for all sentences or one for each.
    """

    model: ToyModel
    sentence_ids: tuple[int, ...] = (0,)
    max_len: int | tuple[int, ...] = 4
    min_len: int | tuple[int, ...] = 0
    forbidden: tuple[int, ...] = ()
    prefixes: tuple[Prefix, ...] | None = None
    no_repeat_ngram_size: int = 0

    def evaluator(self) -> ToyEvaluator:
        return ToyEvaluator(self.model, self.model.eos, self.sentence_ids)

    def decode_options(self) -> dict[str, Any]:
        """The keyword arguments of `decode` that say the same; defaults are left out."""
        options: dict[str, Any] = {"eos": self.model.eos, "max_len": self.max_len}
        for name in ("min_len", "forbidden", "prefixes", "no_repeat_ngram_size"):
            if getattr(self, name):
                options[name] = getattr(self, name)
        return options

    def forced(self, index: int) -> Prefix:
        return self.prefixes[index] if self.prefixes is not None else ()

    def lengths(self, index: int) -> tuple[int, int]:
        """The least and the greatest length of one sentence."""
        return _entry(self.min_len, index), _entry(self.max_len, index)

    def of(self, indices: Sequence[int]) -> ToyProblem:
        """The same problem with these of its sentences, in this order."""
        return replace(
            self,
            sentence_ids=tuple(self.sentence_ids[i] for i in indices),
            max_len=tuple(_entry(self.max_len, i) for i in indices),
            min_len=tuple(_entry(self.min_len, i) for i in indices),
            prefixes=None if self.prefixes is None else tuple(self.prefixes[i] for i in indices),
        )

    def only(self, index: int) -> ToyProblem:
        """One sentence alone, with plain numbers for its lengths."""
        min_len, max_len = self.lengths(index)
        return replace(self.of([index]), min_len=min_len, max_len=max_len)


def _entry(given: int | tuple[int, ...], index: int) -> int:
    return given if isinstance(given, int) else given[index]


# ---- random problems ----


@st.composite
def toy_models(draw: st.DrawFn, max_vocab: int = 12) -> ToyModel:
    vocab = draw(st.integers(3, max_vocab), label="vocab")
    return ToyModel(
        vocab=vocab,
        eos=draw(st.integers(0, vocab - 1), label="eos"),
        seed=draw(st.integers(0, 2**32 - 1), label="seed"),
        policy=draw(st.sampled_from(POLICIES), label="policy"),
        ending=draw(st.sampled_from(ENDINGS), label="ending"),
        values=draw(st.sampled_from(VALUES), label="values"),
    )


@st.composite
def toy_problems(
    draw: st.DrawFn, max_vocab: int = 12, max_len: int = 10, max_sentences: int = 3
) -> ToyProblem:
    """Problems that have a solution: the limits never contradict one another."""
    model = draw(toy_models(max_vocab))
    sentence_ids = tuple(
        draw(st.lists(st.integers(0, 99), min_size=1, max_size=max_sentences, unique=True))
    )
    count = len(sentence_ids)
    length = draw(st.integers(1, max_len), label="max_len")
    words = [token for token in range(model.vocab) if token != model.eos]
    kinds = ("none", "lengths", "own lengths", "forbidden", "prefixes", "ngrams", "all")
    limits = draw(st.sampled_from(kinds))
    forbidden: tuple[int, ...] = ()
    prefixes = None
    min_len: int | tuple[int, ...] = 0
    greatest: int | tuple[int, ...] = length
    ngram = 0
    if limits in ("forbidden", "all"):
        forbidden = tuple(sorted(draw(st.sets(st.sampled_from(words), max_size=len(words) - 1))))
        words = [token for token in words if token not in forbidden]
    if limits in ("lengths", "all"):
        min_len = draw(st.integers(0, length), label="min_len")
    if limits == "own lengths":
        least = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        more = draw(st.lists(st.integers(1, max_len - 3), min_size=count, max_size=count))
        min_len = tuple(least)
        greatest = tuple(low + extra for low, extra in zip(least, more, strict=True))
    if limits in ("prefixes", "all"):
        prefix = st.lists(st.sampled_from(words), max_size=length).map(tuple)
        prefixes = tuple(draw(prefix) for _ in sentence_ids)
    if limits == "ngrams":
        ngram = draw(st.integers(1, 3), label="no_repeat_ngram_size")
    return ToyProblem(model, sentence_ids, greatest, min_len, forbidden, prefixes, ngram)


def random_problem(rng: np.random.Generator, max_vocab: int = 12, max_len: int = 10) -> ToyProblem:
    """A problem without limits from a numpy generator, for scripts and plain loops."""
    vocab = int(rng.integers(3, max_vocab + 1))
    model = ToyModel(
        vocab=vocab,
        eos=int(rng.integers(vocab)),
        seed=int(rng.integers(2**32)),
        policy=str(rng.choice(POLICIES)),
        ending=str(rng.choice(ENDINGS)),
        values=str(rng.choice(VALUES)),
    )
    return ToyProblem(model, (int(rng.integers(100)),), int(rng.integers(1, max_len + 1)))
