"""Where the time of searches by a metric goes: into the products of its encoder, or elsewhere?

    python benchmarks/rollouts.py DATA --path policy.pt --encoder BERT --post-process sentencepiece

MCTS+Roll and S+R with a budget of 50 on 200 sentences of a trained policy, scored by MLBERTScore.
Two shares of the whole time of each: the matrix products of the metric's encoder (its linear layers
and its attention), which nobody can do without, and everything that is not the metric: policy,
search, and the texts of what is found. The rest is the metric beside its products.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import common
import metric_searches
import torch.nn.functional as F

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.embedder import shared_embedder
from fairseq_mcts.metrics.encoder import Encoder
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.scorer import Scorer

PRODUCTS_BAR, BESIDE_BAR = 0.75, 0.2
PRODUCTS = ("linear", "scaled_dot_product_attention")  # of torch.nn.functional


class Meters:
    """Seconds of parts of a search, by name."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._encoding = False
        self.seconds = {"metric": 0.0, "encoder": 0.0, "products": 0.0}

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            begun = self._clock()
            try:
                return function(*given, **options)
            finally:
                self.seconds[part] += self._clock() - begun

        return call

    def _encoder(self) -> Callable[..., Any]:
        timed = self.timed("encoder", Encoder.__call__)

        def call(*given: Any) -> Any:
            self._encoding = True
            try:
                return timed(*given)
            finally:
                self._encoding = False

        return call

    def _product(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Those of the policy's network are none of the metric's."""
        timed = self.timed("products", function)

        def call(*given: Any, **options: Any) -> Any:
            return (timed if self._encoding else function)(*given, **options)

        return call

    @contextmanager
    def running(self) -> Iterator[None]:
        with (
            mock.patch.object(Scorer, "__call__", self.timed("metric", Scorer.__call__)),
            mock.patch.object(Encoder, "__call__", self._encoder()),
            mock.patch.object(F, PRODUCTS[0], self._product(getattr(F, PRODUCTS[0]))),
            mock.patch.object(F, PRODUCTS[1], self._product(getattr(F, PRODUCTS[1]))),
        ):
            yield


def measure(
    options: argparse.Namespace,
    translator: metric_searches.Translator,
    name: str,
    decoder: Decoder[Any],
) -> Iterator[common.Comparison]:
    clock = common.CLOCKS[options.clock]
    shared_embedder.cache_clear()  # what it has kept of other searches would cost nothing
    generator = translator.generator(decoder, build_metric(f"mlbertscore:model={options.encoder}"))
    translator.generator(decoder, build_metric("chrf")).translate(translator.sources[:1])
    meters = Meters(clock)
    begun = clock()
    with meters.running():
        translator.translations(generator)
    total = clock() - begun
    parts = {"all s": total, **{f"{part} s": took for part, took in meters.seconds.items()}}
    yield common.Comparison(
        f"{name}, {len(translator.sources)} sentences: products of the metric's encoder / all",
        meters.seconds["products"] / total,
        common.at_least(PRODUCTS_BAR),
        parts,
    )
    yield common.Comparison(
        f"{name}: everything besides the metric / all",
        1 - meters.seconds["metric"] / total,
        common.at_most(BESIDE_BAR),
        parts,
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    metric_searches.add_options(parser)
    parser.set_defaults(clock="cpu")
    options = common.parse(parser, arguments)
    report = common.Report("rollouts", options, {"metric": "mlbertscore"})
    translator = metric_searches.Translator(options)
    for name, decoder in metric_searches.decoders(options.budget):
        for comparison in measure(options, translator, name, decoder):
            report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
