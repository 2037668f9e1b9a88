"""Compares systems by several metrics: what fairseq-mcts-score prints and -report shows."""

import argparse
from dataclasses import dataclass

import numpy as np

from fairseq_mcts.cli.optimised import read_optimised
from fairseq_mcts.cli.score_table import Comparison, SystemScores
from fairseq_mcts.cli.systems import (
    build_metrics,
    read_other_texts,
    read_systems,
)
from fairseq_mcts.cli.user_dir import import_user_dir
from fairseq_mcts.metrics import Metric, with_sources
from fairseq_mcts.metrics.base import FloatArray
from fairseq_mcts.metrics.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, paired_bootstrap
from fairseq_mcts.metrics.checks import check_scores
from fairseq_mcts.metrics.system_output import SystemOutput
from fairseq_mcts.progress import progress_bar

_SENTENCES_AT_ONCE = 256  # some batches of an encoder, of which a large one takes seconds each
_SILENT_SECONDS = 5.0  # what takes less shows no progress


def add_comparison_options(
    parser: argparse.ArgumentParser, metrics_flag: str, system_kind: str
) -> None:
    """What systems are compared with, and how; `metrics_flag` asks for metrics, and a system is
    given as a `system_kind`."""
    add = parser.add_argument
    add("--sources", metavar="FILE", help="sources; default: the S lines of a generate-*.txt")
    add("--references", metavar="FILE", help="references; default: the T lines of a generate-*.txt")
    add(
        "--encoder",
        metavar="PATH",
        help="local folder or hub name of the encoder of bertscore and mlbertscore",
    )
    add("--encoder-layer", type=int, metavar="N", help="layer of the encoder to compare")
    add("--baseline", metavar="NAME", help="system to compare with; default: the first one")
    add(
        "--resamples",
        type=int,
        default=DEFAULT_RESAMPLES,
        help="resamples of the paired bootstrap; 0: no test (default: %(default)s)",
    )
    add("--seed", type=int, default=DEFAULT_SEED, help="of the resampling (default: %(default)s)")
    add("--user-dir", metavar="DIR", help="folder that registers further metrics")
    parser.set_defaults(program=parser.prog, metrics_flag=metrics_flag, system_kind=system_kind)


@dataclass(frozen=True)
class Systems:
    """What is compared, and the comparison, which `fill` completes."""

    systems: dict[str, SystemOutput]
    texts: dict[bool, list[str]]  # what metrics compare with: references if privileged
    comparison: Comparison

    def fill(self) -> dict[str, dict[str, FloatArray]]:
        """Scores and tests; returns the statistics [N, K] of sentences, by metric and system."""
        comparison = self.comparison
        everything = self._statistics()
        for metric in comparison.metrics:
            for name, scores in comparison.systems.items():
                total = everything[metric.name][name].sum(axis=0)
                scores.scores[metric.name] = metric.aggregate(total)
        if comparison.resamples:
            self._test(everything)
        return everything

    def _test(self, everything: dict[str, dict[str, FloatArray]]) -> None:
        """Compares all systems with the baseline; shows how far it is if that takes long."""
        comparison, baseline = self.comparison, self.comparison.baseline
        others = [name for name in comparison.systems if name != baseline]
        total = len(comparison.metrics) * len(others)
        with progress_bar("testing", total, unit="tests", silent=_SILENT_SECONDS) as bar:
            for metric in comparison.metrics:
                statistics = everything[metric.name]
                for name in others:
                    comparison.systems[name].tests[metric.name] = paired_bootstrap(
                        metric,
                        statistics[name],
                        statistics[baseline],
                        resamples=comparison.resamples,
                        seed=comparison.seed,
                    )
                    bar.update()

    def _statistics(self) -> dict[str, dict[str, FloatArray]]:
        """[N, K] of each metric and system; shows how far it is if that takes long."""
        metrics = self.comparison.metrics
        found: dict[str, dict[str, FloatArray]] = {metric.name: {} for metric in metrics}
        total = len(metrics) * len(self.systems) * self.comparison.sentences
        with progress_bar("scoring", total, unit="sentences", silent=_SILENT_SECONDS) as bar:
            for metric in metrics:
                others = self._others(metric)
                for name, system in self.systems.items():
                    parts = []
                    for part in _parts(metric, len(others)):
                        parts.append(metric.statistics(system.hypotheses[part], others[part]))
                        bar.update(len(parts[-1]))
                    found[metric.name][name] = np.concatenate(parts)
        return found

    def sentence_scores(self, metric: Metric, system: str, statistics: FloatArray) -> list[float]:
        """[N] scores of single sentences; `statistics` [N, K] are those of `fill`."""
        if type(metric).statistics is Metric.statistics:  # they hold the scores themselves
            return statistics[:, 0].tolist()
        hypotheses, others = self.systems[system].hypotheses, self._others(metric)
        scores = metric.score(hypotheses, others)
        check_scores(metric, scores, hypotheses, others)
        return scores

    def _others(self, metric: Metric) -> list[str]:
        """What the metric compares with."""
        others = self.texts[metric.privileged]
        return with_sources(others, self.texts[False]) if metric.reads_source else others


def _parts(metric: Metric, sentences: int) -> list[slice]:
    """So many sentences that progress can be shown, if the metric judges them one by one."""
    size = sentences if metric.needs_whole_corpus else _SENTENCES_AT_ONCE
    return [slice(begin, begin + size) for begin in range(0, sentences, size)]


def read_and_check(options: argparse.Namespace) -> Systems:
    """Reads outputs, other texts and metrics as the options say; refuses before it scores."""
    if options.resamples < 0:
        raise ValueError(f"--resamples {options.resamples}: must not be negative")
    if options.user_dir is not None:
        import_user_dir(options.user_dir)
    systems = read_systems(options.systems, options.system_kind)
    baseline = options.baseline or next(iter(systems))
    if baseline not in systems:
        raise ValueError(f"--baseline {baseline}: the systems are {', '.join(systems)}")
    texts = read_other_texts(options, systems)
    metrics = build_metrics(options, texts)
    optimised = read_optimised(options.optimised, list(systems), baseline, metrics, options.encoder)
    comparison = Comparison(
        metrics=metrics,
        systems={name: SystemScores(optimised.get(name), {}, {}) for name in systems},
        baseline=baseline,
        sentences=len(systems[baseline].hypotheses),
        resamples=options.resamples,
        seed=options.seed,
    )
    _demand_independent_metric(comparison, options.metrics_flag)
    return Systems(systems, texts, comparison)


def _demand_independent_metric(comparison: Comparison, metrics_flag: str) -> None:
    for name, system in comparison.systems.items():
        if all(comparison.is_partial(name, metric) for metric in comparison.metrics):
            raise ValueError(
                f"the decoding of {name} optimised {system.spec}, and no other judge is asked "
                "for: a system must not be judged by its own metric alone. Add a metric to "
                f"{metrics_flag}"
            )
