"""What all reference searches share: which tokens are allowed where, and the policy over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Prefix = tuple[int, ...]
Model = Callable[[int, Prefix], tuple[Any, float]]


@dataclass(frozen=True)
class Rules:
    """The tokens that may follow a prefix."""

    vocab: int
    eos: int
    max_len: int
    min_len: int = 0
    forbidden: tuple[int, ...] = ()
    forced: Prefix = ()
    no_repeat_ngram_size: int = 0

    def allowed(self, prefix: Prefix) -> list[int]:
        length = len(prefix)
        if length < len(self.forced):
            return [self.forced[length]]
        if length == self.max_len:
            return [self.eos]
        return [token for token in range(self.vocab) if self._may_follow(prefix, token)]

    def _may_follow(self, prefix: Prefix, token: int) -> bool:
        if token == self.eos:
            return len(prefix) >= self.min_len
        return token not in self.forbidden and not self._repeats(prefix, token)

    def _repeats(self, prefix: Prefix, token: int) -> bool:
        size = self.no_repeat_ngram_size
        if size == 0 or len(prefix) < size:
            return False
        new = (*prefix, token)[-size:]
        return new in [prefix[i : i + size] for i in range(len(prefix) - size + 1)]

    def finished(self, prefix: Prefix) -> bool:
        return prefix[-1:] == (self.eos,)


class Network:
    """One sentence's model without any memory; notes what it was asked, in order."""

    def __init__(self, model: Model, sentence: int) -> None:
        self.model = model
        self.sentence = sentence
        self.asked: list[Prefix] = []

    def logprobs(self, prefix: Prefix) -> list[float]:
        return self.both(prefix)[0]

    def value(self, prefix: Prefix) -> float:
        return self.both(prefix)[1]

    def both(self, prefix: Prefix) -> tuple[list[float], float]:
        self.asked.append(prefix)
        logprobs, value = self.model(self.sentence, prefix)
        return [float(x) for x in logprobs], float(value)

    def distinct(self) -> list[Prefix]:
        """The prefixes asked for, each once, in the order of the first time."""
        return list(dict.fromkeys(self.asked))


def tempered(
    logprobs: Sequence[float], allowed: Sequence[int], temperature: float
) -> dict[int, float]:
    """π^(1/τ), normalised over the allowed tokens."""
    top = max(logprobs[token] / temperature for token in allowed)
    weights = {token: math.exp(logprobs[token] / temperature - top) for token in allowed}
    total = sum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def log_tempered(logprobs: Sequence[float], temperature: float) -> list[float]:
    """log π_τ over the whole vocabulary; at τ = 1 the log-probabilities as they are."""
    if temperature == 1.0:
        return list(logprobs)
    scaled = [x / temperature for x in logprobs]
    top = max(scaled)
    log_total = top + math.log(sum(math.exp(x - top) for x in scaled))
    return [x - log_total for x in scaled]


@dataclass(frozen=True)
class Answer:
    """One finished sentence as a reference search returns it."""

    tokens: Prefix
    positional_logprobs: tuple[float, ...]
    value: float | None
    score: float

    @property
    def logprob(self) -> float:
        return sum(self.positional_logprobs)


def positional_logprobs(network: Network, tokens: Prefix) -> tuple[float, ...]:
    """The model's own log-probability of each token, at temperature 1 and before any masking."""
    model = network.model
    return tuple(
        float(model(network.sentence, tokens[:i])[0][token]) for i, token in enumerate(tokens)
    )
