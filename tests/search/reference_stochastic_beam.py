"""Samples without replacement for one sentence, by perturbed log-probabilities, in plain Python.

The same random numbers as the fast search: (seed, place among the draws of a step, position).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.search.reference_rules import Model, Network, Prefix, Rules, positional_logprobs
from tests.search.reference_sr import Metric, SrOptions, Uniform, draw, sampling_distribution


@dataclass(frozen=True)
class Sample:
    tokens: Prefix
    log_share: float  # log-probability by the distribution that is sampled from
    perturbed: float
    positional_logprobs: tuple[float, ...]
    weight: float
    score: float | None


@dataclass(frozen=True)
class Drawn:
    samples: list[Sample]  # in the order drawn, or best first
    asked: list[Prefix]


@dataclass
class Beam:
    tokens: Prefix
    log_share: float
    perturbed: float


def reference_stochastic_beam(
    model: Model,
    sentence: int,
    rules: Rules,
    options: SrOptions,
    *,
    seed: int,
    uniform: Uniform,
    metric: Metric | None = None,
) -> Drawn:
    network = Network(model, sentence)
    each = options.samples + 1
    beams = [Beam((), 0.0, -math.log(-math.log(uniform(seed, 0, 0))))]
    left_out = [-math.inf]
    step = 0
    while not all(rules.finished(beam.tokens) for beam in beams):
        proposals = []
        for number, beam in enumerate(beams):
            if rules.finished(beam.tokens):
                proposals.append(beam)
                continue
            logprobs = network.logprobs(beam.tokens)
            policy = sampling_distribution(logprobs, rules.allowed(beam.tokens), options)
            urn = dict(policy)
            bound = beam.perturbed
            for place in range(min(each, len(policy))):
                mass = sum(urn[token] for token in sorted(urn))
                coordinate = number * each + place
                u = uniform(seed, coordinate, 2 * step + 1)
                token = draw({one: urn[one] / mass for one in urn}, u)
                if place > 0:
                    location = beam.log_share + math.log(mass)
                    u = uniform(seed, coordinate, 2 * step + 2)
                    # the distribution function up to `bound`, inverted
                    most = math.exp(-math.exp(location - bound))
                    if most > 1e-200 and u * most > 1e-200:
                        bound = location - math.log(-math.log(u * most))
                    else:
                        bound = location - math.log(math.exp(location - bound) - math.log(u))
                new = beam.log_share + math.log(policy[token])
                proposals.append(Beam((*beam.tokens, token), new, bound))
                del urn[token]
        proposals.sort(key=lambda beam: -beam.perturbed)
        left_out += [beam.perturbed for beam in proposals[options.samples :]]
        beams = proposals[: options.samples]
        step += 1
    threshold = max(left_out)
    samples = []
    for beam in beams:
        score = None
        if options.rank_by == "value":
            score = network.value(beam.tokens)
        elif options.rank_by == "metric":
            score = metric(sentence, beam.tokens)
        included = 1.0
        if threshold > -math.inf:
            included = -math.expm1(-math.exp(beam.log_share - threshold))
        samples.append(
            Sample(
                beam.tokens,
                beam.log_share,
                beam.perturbed,
                positional_logprobs(network, beam.tokens),
                math.exp(beam.log_share) / included,
                score,
            )
        )
    if options.rank_by != "none":
        samples.sort(key=lambda one: (-one.score, -sum(one.positional_logprobs)))
    return Drawn(samples, network.distinct())
