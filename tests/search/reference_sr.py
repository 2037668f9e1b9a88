"""Sampling and reranking for one sentence: draw, score, sort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.search.reference_rules import (
    Answer,
    Model,
    Network,
    Prefix,
    Rules,
    positional_logprobs,
    tempered,
)

Metric = Callable[[int, Prefix], float]
Uniform = Callable[[int, int, int], float]  # (seed, sample, position) -> [0, 1)


@dataclass(frozen=True)
class SrOptions:
    samples: int = 50
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    epsilon: float = 0.0
    rank_by: str = "value"


@dataclass(frozen=True)
class SrResult:
    answers: list[Answer]  # distinct sentences, best first
    samples: list[Prefix]  # as drawn
    charged: int
    asked: list[Prefix]


def reference_sr(
    model: Model,
    sentence: int,
    rules: Rules,
    options: SrOptions,
    *,
    seed: int,
    uniform: Uniform,
    metric: Metric | None = None,
) -> SrResult:
    network = Network(model, sentence)
    charged = 0
    samples: list[Prefix] = []
    scores: dict[Prefix, float] = {}
    for sample in range(options.samples):
        tokens: Prefix = ()
        while not rules.finished(tokens):
            logprobs = network.logprobs(tokens)
            charged += 1
            policy = sampling_distribution(logprobs, rules.allowed(tokens), options)
            tokens = (*tokens, draw(policy, uniform(seed, sample, len(tokens))))
        samples.append(tokens)
        if options.rank_by == "value":
            scores[tokens] = network.value(tokens)
            charged += 1
        else:
            scores[tokens] = metric(sentence, tokens)

    distinct = list(dict.fromkeys(samples))
    answers = [
        Answer(tokens, positional_logprobs(network, tokens), scores[tokens], scores[tokens])
        for tokens in distinct
    ]
    # sorted() keeps the order of equal elements, and `distinct` is in the order of the samples
    answers = sorted(answers, key=lambda answer: (-answer.score, -answer.logprob))
    return SrResult(answers, samples, charged, network.distinct())


def sampling_distribution(
    logprobs: list[float], allowed: list[int], options: SrOptions
) -> dict[int, float]:
    """{token: probability} after temperature, top-k, nucleus and epsilon, in this order."""
    policy = tempered(logprobs, allowed, options.temperature)
    best_first = sorted(policy, key=lambda token: (-policy[token], token))
    if options.top_k > 0:
        best_first = best_first[: options.top_k]
        policy = renormalised(policy, best_first)
    if options.top_p < 1.0:
        kept: list[int] = []
        mass = 0.0
        for token in best_first:
            kept.append(token)
            mass += policy[token]
            if mass >= options.top_p:
                break
        best_first = kept
        policy = renormalised(policy, best_first)
    if options.epsilon > 0.0:
        kept = [token for token in best_first[1:] if policy[token] >= options.epsilon]
        policy = renormalised(policy, [best_first[0], *kept])
    return policy


def renormalised(policy: dict[int, float], kept: list[int]) -> dict[int, float]:
    total = sum(policy[token] for token in kept)
    return {token: policy[token] / total for token in kept}


def draw(policy: dict[int, float], u: float) -> int:
    """Inverse of the cumulative distribution, in the order of the token ids."""
    cumulative = 0.0
    for token in sorted(policy):
        cumulative += policy[token]
        if u < cumulative:
            return token
    return max(policy)  # the sum fell short of 1 by rounding
