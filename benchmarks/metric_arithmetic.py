"""Would a metric's encoder in other arithmetic pay, for ranking within a search?

    pip install ctranslate2
    python benchmarks/metric_arithmetic.py DATA --path policy.pt --encoder BERT --post-process …

S+R draws 50 samples of each of 200 sources, and MLBERTScore chooses one. Here another encoder ranks
them, and the few best alone are scored exactly, so that the chosen sentence has its exact score:
CTranslate2 in int8 (and in bf16, where the processor can), and this project's own encoder with
int8 products by torch. Stated are the time of exact scores for all over that of both parts, and the
share of sources for which the same sentence is chosen. An option like that would be kept at twice
the speed and 98 %.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import common
import metric_searches
import numpy as np
import torch
from dtype import int8_linear
from torch import Tensor, nn

from fairseq_mcts.metrics.embedder import PairScorer, TextEmbedder
from fairseq_mcts.metrics.encoder import Encoder, load_encoder
from fairseq_mcts.relabelling.sampling import Samples, SamplesOptions

SPEED, SHARE = common.at_least(2.0), common.at_least(0.98)
OTHER_TYPES = ("float32", "int8", "bfloat16")  # of CTranslate2
Groups = list[tuple[str, list[str]]]  # a source and its distinct candidates


def make_candidates(options: argparse.Namespace) -> Groups:
    """What a policy samples, each once, in the order in which it was drawn."""
    translator = metric_searches.Translator(options)
    decoder = Samples(SamplesOptions(samples=options.budget, temperature=0.75))
    generator = translator.generator(decoder, None, n_best=options.budget)
    found = translator.translations(generator)
    sources = translator.texts.source.decode_batch(translator.sources)
    return [
        (source, [*dict.fromkeys(translator.texts.target.decode(one) for one in of_source)])
        for source, of_source in zip(sources, found, strict=True)
    ]


class Scored:
    """An encoder that scores candidates, and remembers none of them."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def scores(self, groups: Groups) -> list[np.ndarray]:
        """F1 of each candidate against its source, [C] of each group."""
        scorer = PairScorer(TextEmbedder(self._encoder))
        hypotheses = [text for _, texts in groups for text in texts]
        others = [source for source, texts in groups for _ in texts]
        found = np.maximum(scorer.precision_recall(hypotheses, others), 0.0)  # [n, 2]
        f1 = 2 * found.prod(axis=1) / np.maximum(found.sum(axis=1), 1e-12)
        return np.split(f1, np.cumsum([len(texts) for _, texts in groups])[:-1])


class Ranking:
    """The choice by another encoder among all, then by the exact one among the best."""

    def __init__(self, exact: Scored, other: Scored, best: int) -> None:
        self._exact, self._other, self._best = exact, other, best

    def choices(self, groups: Groups) -> list[str]:
        ranked = self._other.scores(groups)
        few = [
            (source, [texts[place] for place in sorted(np.argsort(-scores)[: self._best])])
            for (source, texts), scores in zip(groups, ranked, strict=True)
        ]
        return chosen(few, self._exact.scores(few))


def chosen(groups: Groups, scores: Sequence[np.ndarray]) -> list[str]:
    """The best text of each source, of equal ones the first."""
    return [texts[int(one.argmax())] for (_, texts), one in zip(groups, scores, strict=True)]


def with_int8_products(encoder: Encoder) -> Encoder:
    """The same encoder, whose linear layers multiply in int8."""
    model = copy.deepcopy(encoder.model)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, _Int8(child))
    return replace(encoder, model=model)


class _Int8(nn.Module):
    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self._apply_rows = int8_linear(layer)

    def forward(self, x: Tensor) -> Tensor:
        return self._apply_rows(x.flatten(0, -2)).view(*x.shape[:-1], -1)


class ByCTranslate2(nn.Module):
    """A converted encoder that is called as transformers' are."""

    def __init__(self, folder: Path, kind: str, threads: int) -> None:
        import ctranslate2

        super().__init__()
        self.place = nn.Parameter(torch.zeros(0))  # whoever asks is told: the host's memory
        self._encoder = ctranslate2.Encoder(
            str(folder), device="cpu", compute_type=kind, intra_threads=threads
        )

    def forward(self, tokens: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        lengths = attention_mask.sum(dim=1).tolist()
        rows = [row[:length] for row, length in zip(tokens.tolist(), lengths, strict=True)]
        return (torch.from_numpy(np.array(self._encoder.forward_batch(rows).last_hidden_state)),)


def other_encoders(
    exact: Encoder, options: argparse.Namespace, folder: Path
) -> Iterator[tuple[str, Encoder]]:
    """By their names in the report."""
    yield "int8 products by torch", with_int8_products(exact)
    try:
        import ctranslate2
        from ctranslate2.converters import TransformersConverter
    except ModuleNotFoundError as missing:
        print(f"{missing}: no figures of CTranslate2; pip install ctranslate2", file=sys.stderr)
        return
    TransformersConverter(str(options.encoder)).convert(str(folder), force=True)
    possible = ctranslate2.get_supported_compute_types("cpu")
    for kind in OTHER_TYPES:
        if kind in possible:
            model = ByCTranslate2(folder, kind, options.threads)
            yield f"CTranslate2, {kind}", replace(exact, model=model)


def measure(
    groups: Groups, exact: Encoder, name: str, other: Encoder, options: argparse.Namespace
) -> Iterator[common.Comparison]:
    alone = Scored(exact)
    ranking = Ranking(alone, Scored(other), options.best)
    found: dict[str, list[str]] = {}

    def by(side: str, choose: Callable[[], list[str]]) -> Callable[[], None]:
        def run() -> None:
            found[side] = choose()

        return run

    seconds = common.alternate(
        {
            "exact": by("exact", lambda: chosen(groups, alone.scores(groups))),
            "ranking": by("ranking", lambda: ranking.choices(groups)),
        },
        options,
    )
    parts = {f"{side} s": took for side, took in seconds.items()}
    parts["candidates"] = sum(len(texts) for _, texts in groups)
    ratio = seconds["exact"] / seconds["ranking"]
    yield common.Comparison(
        f"{name}, exact for the best {options.best}: exact for all / this", ratio, SPEED, parts
    )
    same = np.mean([one == two for one, two in zip(*found.values(), strict=True)])
    yield common.Comparison(f"{name}: share of unchanged choices", float(same), SHARE, parts)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    metric_searches.add_options(parser)
    parser.add_argument("--best", type=int, default=5, help="that are scored exactly")
    parser.set_defaults(clock="cpu", repeats=1)
    options = common.parse(parser, arguments)
    report = common.Report("metric arithmetic", options, {"metric": "mlbertscore"})
    groups = make_candidates(options)
    exact = load_encoder(str(options.encoder), device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        for name, other in other_encoders(exact, options, Path(folder)):
            for comparison in measure(groups, exact, name, other, options):
                report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
