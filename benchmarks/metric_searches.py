"""Searches by a metric's encoder on a trained policy, for the benchmarks of what such cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import searches
import torch
import trained

from fairseq_mcts.generators.joining import joined
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.metrics import Metric, text_decoders
from fairseq_mcts.search import Decoder, make_decoder

SEED = 1
BATCH = 32


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, help="folder of fairseq-preprocess")
    parser.add_argument("--path", type=Path, required=True, help="checkpoint of a policy")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a BERT model")
    parser.add_argument("--post-process", help="as fairseq-generate")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--budget", type=int, default=50, help="simulations, or samples")
    parser.add_argument("--max-len", type=int, default=100)


def decoders(budget: int) -> Iterator[tuple[str, Decoder[Any]]]:
    """The searches that need no value, by their names in the report."""
    yield "MCTS+Roll", searches.with_rollouts(budget)
    samples = {"samples": budget, "temperature": 0.75, "rank_by": "metric"}
    yield "S+R", make_decoder("sr", samples)


class Translator:
    """A policy and its sentences, searched as fairseq-mcts-generate does."""

    def __init__(self, options: argparse.Namespace) -> None:
        found = trained.load(options.path, options.data, options.subset, options.sentences)
        self.model, self.task = found.model, found.task
        self.sources = [row["source"] for row in found.rows]
        self.texts = text_decoders(self.task, post_process=options.post_process)
        self._limits = Limits(max_len_b=options.max_len)
        numbers = sorted(range(len(self.sources)), key=lambda one: -len(self.sources[one]))
        batches = [numbers[begin : begin + BATCH] for begin in range(0, len(numbers), BATCH)]
        self._batches, self._at_once = joined(batches)

    def generator(
        self, decoder: Decoder[Any], metric: Metric | None, n_best: int = 1
    ) -> SearchGenerator:
        generator = SearchGenerator(
            [self.model],
            self.task.target_dictionary,
            value_models=[],
            decoder=decoder,
            limits=Limits(max_len_b=self._limits.max_len_b, n_best=n_best),
            seed=SEED,
            metric=metric,
            text_decoders=lambda: self.texts,
        )
        generator.at_once = self._at_once
        return generator

    @torch.no_grad()
    def translations(self, generator: SearchGenerator) -> list[list[tuple[int, ...]]]:
        """The hypotheses of each sentence, best first, in the order of the data."""
        found: list[list[tuple[int, ...]]] = [[] for _ in self.sources]
        for batch in self._batches:
            results = generator.translate([self.sources[one] for one in batch])
            for number, hypotheses in zip(batch, results, strict=True):
                found[number] = [one.tokens for one in hypotheses]
        return found
