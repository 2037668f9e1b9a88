"""Scores of what is on disk: translations of the test set, outcomes of sweeps, errors of values."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from examples.common.cost import Cost, read_cost
from examples.common.runner import read_record
from examples.multi30k.layout import METRICS, SOURCE, Layout
from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.metrics.base import FloatArray
from fairseq_mcts.metrics.bootstrap import paired_bootstrap
from fairseq_mcts.metrics.system_output import read_lines, read_system

BASELINE = "beam"
#: all that is shown of a system, whatever it optimises
SHOWN = (*METRICS, "chrf")
GENERATED = "generate-test.txt"
PERCENT = 100.0
SHUFFLE_SEED = 1


@dataclass(frozen=True)
class Score:
    """A corpus score in percent, and how sure the difference to the baseline is."""

    percent: float
    p_value: float | None = None  # None for the baseline itself, or without one


class HeldOutScores:
    """Scores systems of one language pair when they are asked for, and remembers them."""

    def __init__(self, layout: Layout, metrics: Sequence[Metric] | None = None) -> None:
        self._layout = layout
        self._given = metrics
        self._sources = read_lines(layout.corpus / f"test.{SOURCE}")
        self._references = read_lines(layout.corpus / f"test.{layout.target}")
        self._statistics: dict[tuple[str, str], FloatArray] = {}
        self._scores: dict[tuple[str, str, str], Score] = {}

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        built = self._given or [build_metric(self._layout.metric(name)) for name in SHOWN]
        return {metric.name: metric for metric in built}

    def has(self, system: str) -> bool:
        return system in ("random", "reference") or self._is_decoded(system)

    def names(self) -> list[str]:
        """The systems that have translated the test set."""
        names = [path.parent.name for path in self._layout.decoded("").glob(f"*/{GENERATED}")]
        return sorted(filter(self._is_decoded, names))

    def score(self, system: str, metric: str, baseline: str = BASELINE) -> Score | None:
        """The score of a system; None if it has not translated the test set yet."""
        if not self.has(system):
            return None
        key = (system, metric, baseline)
        if key not in self._scores:
            self._scores[key] = self._compute(system, self.metrics[metric], baseline)
        return self._scores[key]

    def cost(self, system: str) -> Cost | None:
        """What decoding cost; None for texts that nobody decoded."""
        log = self._layout.pair / "stages" / f"decode-{system}.log"
        return read_cost(log) if log.is_file() else None

    def _compute(self, system: str, metric: Metric, baseline: str) -> Score:
        own = self._statistics_of(system, metric)
        percent = PERCENT * metric.aggregate(own.sum(axis=0))
        if system == baseline or not self.has(baseline):
            return Score(percent)
        test = paired_bootstrap(metric, own, self._statistics_of(baseline, metric))
        return Score(percent, test.p_value)

    def _statistics_of(self, system: str, metric: Metric) -> FloatArray:
        key = (system, metric.name)
        if key not in self._statistics:
            others = self._references if metric.privileged else self._sources
            self._statistics[key] = metric.statistics(self._hypotheses(system), others)
        return self._statistics[key]

    def _hypotheses(self, system: str) -> list[str]:
        if system == "reference":
            return self._references
        if system == "random":  # the translation of some other sentence
            shuffled = list(self._references)
            random.Random(SHUFFLE_SEED).shuffle(shuffled)
            return shuffled
        path = self._output(system)
        hypotheses = read_system(path).hypotheses
        if len(hypotheses) != len(self._references):
            raise ValueError(
                f"{path}: {len(hypotheses)} translations for {len(self._references)} references"
            )
        return hypotheses

    def _is_decoded(self, system: str) -> bool:
        """Whether the test set is translated to the end; an unfinished output has its file, too."""
        record = read_record(self._layout.pair / "stages" / f"decode-{system}.json")
        return record.get("finished", False)

    def _output(self, system: str) -> Path:
        return self._layout.decoded(system) / GENERATED
