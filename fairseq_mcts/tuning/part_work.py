"""Parts of trials as work for any engine: a worker loads networks and metrics once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from fairseq_mcts.metrics import Metric
from fairseq_mcts.register import register
from fairseq_mcts.subset.decoder import SubsetDecoder
from fairseq_mcts.subset.options import generator_options
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.objectives import judge, parse_objectives
from fairseq_mcts.tuning.parser import make_parser, num_parts
from fairseq_mcts.tuning.proposals import Proposal
from fairseq_mcts.tuning.subject import build_metrics
from fairseq_mcts.work import Advance
from fairseq_mcts.work.options import threads_of


@dataclass(frozen=True)
class Decoded:
    """What is known of a setting after some parts of the sentences."""

    found: dict[int, str] = field(default_factory=dict)  # translations by their rows
    values: tuple[float | None, ...] = ()  # of the translations, in any order
    scores: dict[str, float] = field(
        default_factory=dict
    )  # by `objectives.judge`, at last by all metrics
    tokens: int = 0  # of all translations, eos counted
    charged: int = 0  # network evaluations by the paper's accounting
    made: int = 0  # those that had to be made
    seconds: float = 0.0


class Part(NamedTuple):
    """A part of the sentences, to be translated with a setting."""

    proposal: Proposal
    number: int  # the first is 0
    before: Decoded  # of the parts before this one

    def __str__(self) -> str:
        return str(self.proposal.setting)


class PartWork:
    """See `work.Work`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)

    def open(self) -> "PartMaker":
        """Loads networks and metrics."""
        register()
        return PartMaker(self._arguments)


class PartMaker:
    """Networks, sentences in fixed parts, and metrics, which serve all settings."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        options, cfg = parse(make_parser, arguments)
        # the same for one worker and for many: the last digits of fairseq's beam depend on it
        torch.set_num_threads(threads_of(options))
        self._decoder = SubsetDecoder(cfg, options.sweep_sentences, "--sweep-sentences")
        self._parts = self._decoder.batches(num_parts(options))
        self._metrics = build_metrics(options.sweep_metric)
        objectives = parse_objectives(options.objective, self._metrics)
        self._judge = judge(objectives, self._metrics)
        self._configured = lru_cache(1)(self._configure)

    def make(self, part: Part, advance: Advance) -> Decoded:
        """Translates a part, and scores it with those before."""
        cfg = self._configured(part.proposal.setting)
        options = generator_options(cfg)
        generator = self._decoder.build_generator(cfg)
        begun = time.perf_counter()
        found, values = dict(part.before.found), list(part.before.values)
        for batch in self._parts[part.number]:
            for row, result in self._decoder.decode(generator, batch, options).items():
                found[row] = self._decoder.hypothesis(result[0])
                values.append(result[0].get("value"))
            advance(len(batch))
        seconds = time.perf_counter() - begun
        is_last = part.number == len(self._parts) - 1
        metrics = self._metrics if is_last else [self._judge]
        return Decoded(
            found=found,
            values=tuple(values),
            scores={metric.name: self._score(metric, found) for metric in metrics},
            tokens=part.before.tokens + generator.statistics.tokens,
            charged=part.before.charged + generator.statistics.charged,
            made=part.before.made + generator.statistics.made,
            seconds=part.before.seconds + seconds,
        )

    def _configure(self, setting: Setting) -> Any:
        return parse(make_parser, [*self._arguments, *setting.flags()])[1]

    def _score(self, metric: Metric, found: dict[int, str]) -> float:
        rows = sorted(found)
        other = self._decoder.reference if metric.privileged else self._decoder.source
        return metric.corpus_score([found[row] for row in rows], [other(row) for row in rows])
