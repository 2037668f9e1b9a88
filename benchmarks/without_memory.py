"""Translations without any memory, as a check of those with it; for `exact_reuse.py`.

The searches are the reference searches of this project's tests: plain Python for one sentence, a
fresh tree of objects for every output token. What they ask of the network is computed by fairseq's
ordinary forward pass over the whole prefix, one prefix at a time: no keys, values or slots of a
tree are kept, and no other prefix takes part in it. What is checked is the output and not the time,
so an answer that has been computed like this for a sentence is looked up when a search asks for the
very same prefix of it again, and so is the metric of the very same translation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the tests' reference searches

from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.random_numbers import uniform
from tests.search import reference_beam, reference_mcts, reference_sr
from tests.search.reference_rules import Rules

Prefix = tuple[int, ...]


class PlainRules(Rules):
    """Rules that look at nothing but a prefix's length; the list of what they allow is kept."""

    def allowed(self, prefix: Prefix) -> list[int]:
        return _allowed(self, len(prefix))


@cache
def _allowed(rules: PlainRules, length: int) -> list[int]:
    return Rules.allowed(rules, (rules.eos,) * length)


@dataclass(frozen=True)
class Judge:
    """A metric and how it sees tokens."""

    metric: Metric
    source_text: TextDecoder
    target_text: TextDecoder


@dataclass(frozen=True)
class Translation:
    """A sentence's best output, and what the paper's accounting charges for it."""

    tokens: Prefix
    charged: int


@dataclass
class Sentence:
    """What is asked about one source sentence, by forward passes over whole prefixes."""

    policy: Any
    value: Any  # a model with a value head, possibly the same
    source: Tensor  # [T]
    judge: Judge | None
    _answers: dict[Prefix, tuple[np.ndarray, float]] = field(default_factory=dict)
    _scores: dict[Prefix, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = torch.tensor([len(self.source)])
        with torch.no_grad():
            self._encoded = {
                id(model): model.encoder(self.source[None], src_lengths=lengths)
                for model in (self.policy, self.value)
            }

    def ask(self, _: int, prefix: Prefix) -> tuple[list[float], float]:
        """Log-probabilities of what follows, and the value; the searches number the sentence."""
        if prefix not in self._answers:
            self._answers[prefix] = self._evaluate(prefix)
        logprobs, value = self._answers[prefix]
        return logprobs.tolist(), value

    @torch.no_grad()
    def _evaluate(self, prefix: Prefix) -> tuple[np.ndarray, float]:
        policy, value = self.policy, self.value
        tokens = torch.tensor([(policy.decoder.dictionary.eos(), *prefix)])
        features = {
            id(model): model.decoder.extract_features(tokens, encoder_out=self._encoded[id(model)])
            for model in (policy, value)
        }
        logits = policy.decoder.output_layer(features[id(policy)][0][:, -1:])
        logprobs = policy.get_normalized_probs((logits, None), log_probs=True)
        found = value.decoder.value_head(features[id(value)][0][:, -1])[1]
        return logprobs[0, 0].numpy(), float(found)

    def score(self, _: int, tokens: Prefix) -> float:
        """The metric of a finished translation."""
        assert self.judge is not None  # searches by a metric are run with one
        if tokens not in self._scores:
            source = self.judge.source_text.decode(self.source)
            text = self.judge.target_text.decode(tokens)
            self._scores[tokens] = self.judge.metric.score([text], [source])[0]
        return self._scores[tokens]


def translate(sentence: Sentence, decoder: Decoder[Any], rules: Rules, seed: int) -> Translation:
    """By the reference search of this decoder; `seed` is the sentence's own."""
    metric: Callable[[int, Prefix], float] = sentence.score
    if decoder.name == "vgbs":
        own = like(reference_beam.VgbsOptions, decoder)
        beams = reference_beam.reference_vgbs(sentence.ask, 0, rules, own)
        return Translation(beams.answers[0].tokens, beams.charged)
    if decoder.name == "sr":
        own = like(reference_sr.SrOptions, decoder)
        samples = reference_sr.reference_sr(
            sentence.ask, 0, rules, own, seed=seed, uniform=uniform, metric=metric
        )
        return Translation(samples.answers[0].tokens, samples.charged)
    own = like(reference_mcts.MctsOptions, decoder)
    result = reference_mcts.ReferenceMcts(sentence.ask, 0, rules, own, metric).decode()
    return Translation(result.best.tokens, result.charged)


def like(kind: type, decoder: Decoder[Any]) -> Any:
    """A reference search's options with those of the decoder."""
    given = vars(decoder.options)
    return kind(**{one.name: given[one.name] for one in fields(kind) if one.name in given})
