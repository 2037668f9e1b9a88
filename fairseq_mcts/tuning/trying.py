"""Tries settings out: the same sentences are translated by each, and scored."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from fairseq_mcts.metrics import Metric
from fairseq_mcts.subset.decoder import SubsetDecoder, digest_of_networks
from fairseq_mcts.subset.options import generator_options
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial

#: is told how many parts are done and the score by the first metric so far; False: give up
GoOn = Callable[[int, float], bool]


class Trier:
    """Sentences in fixed parts, networks and metrics that serve all settings."""

    def __init__(self, decoder: SubsetDecoder, metrics: Sequence[Metric], parts: int = 1) -> None:
        self._decoder = decoder
        self._metrics = metrics
        self._parts = decoder.batches(parts)
        rows = range(decoder.num_sentences)
        self.sources = [decoder.source(row) for row in rows]
        self.references = [decoder.reference(row) for row in rows]

    def key(self, cfg: Any) -> str:
        """Differs wherever the outcome of a trial may."""
        everything = [
            digest_of_networks(cfg),
            cfg.common_eval.model_overrides,
            {name: str(value) for name, value in sorted(vars(generator_options(cfg)).items())},
            [cfg.common.seed, cfg.common.fp16],
            [self.sources, self.references],
            [metric.signature() for metric in self._metrics],
        ]
        return hashlib.blake2b(json.dumps(everything).encode(), digest_size=8).hexdigest()

    def try_out(
        self,
        setting: Setting,
        cfg: Any,
        go_on: GoOn = lambda part, score: True,
        after_batch: Callable[[], None] = lambda: None,
    ) -> Trial | None:
        """Translates as the configuration of a setting says; None if it was given up."""
        options = generator_options(cfg)
        generator = self._decoder.build_generator(cfg)
        found: dict[int, str] = {}
        values: list[float | None] = []
        seconds = 0.0
        for number, batches in enumerate(self._parts, 1):
            begun = time.perf_counter()
            for batch in batches:
                results = self._decoder.decode(generator, batch, options)
                for row, result in results.items():
                    found[row] = self._decoder.hypothesis(result[0])
                    values.append(result[0].get("value"))
                after_batch()
            seconds += time.perf_counter() - begun
            if number < len(self._parts):
                score = self._score(self._metrics[0], found)
                if not go_on(number, score):
                    return None
        return Trial(
            flags=setting.flags(),
            scores={metric.name: self._score(metric, found) for metric in self._metrics},
            signatures={metric.name: metric.signature() for metric in self._metrics},
            hypotheses=[found[row] for row in range(len(self.sources))],
            tokens=generator.statistics.tokens,
            charged=generator.statistics.charged,
            made=generator.statistics.made,
            seconds=round(seconds, 2),
            value=_mean(values),
        )

    def _score(self, metric: Metric, found: dict[int, str]) -> float:
        rows = sorted(found)
        others = self.references if metric.privileged else self.sources
        return metric.corpus_score([found[row] for row in rows], [others[row] for row in rows])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
