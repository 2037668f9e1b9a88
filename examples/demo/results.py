"""Score translations and show the scores of all decoders as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from examples.common.cost import Cost
from examples.common.markdown import p_value
from examples.common.training_log import last_validation
from examples.demo.decoders import Decoder
from fairseq_mcts.metrics.base import FloatArray, Metric
from fairseq_mcts.metrics.bootstrap import paired_bootstrap
from fairseq_mcts.progress import progress_bar

_SILENT_SECONDS = 2.0  # what takes less shows no progress


@dataclass(frozen=True)
class HeldOut:
    """What translations are compared with."""

    sources: list[str]
    references: list[str]

    def other(self, metric: Metric) -> list[str]:
        """What the metric compares with."""
        return self.references if metric.privileged else self.sources


@dataclass(frozen=True)
class Result:
    """The scores of one decoder on the whole test set."""

    decoder: Decoder
    scores: dict[str, float]
    """By the titles of the metrics."""
    p_value: float | None
    """Of the difference to beam search by the metric that the decoder searches for."""
    exact: float
    """Share of sentences that equal their reference."""
    cost: Cost


def value_quality(log: Path) -> str:
    """What the last validation of a value's training says of it, in words."""
    last = last_validation(log)
    said = (
        f"mean absolute error {last['value_mae']:.4f} (of always saying the mean score: "
        f"{last['value_mae_of_mean']:.4f}), correlation {last['value_pearson']:.2f}, "
        f"of finished samples {last['value_pearson_finished']:.2f}"
    )
    if "value_pearson_within" in last:
        said += f", among those of one source {last['value_pearson_within']:.2f}"
    return said


class Judge:
    """Scores decoders by all metrics, and compares them with beam search."""

    def __init__(
        self, metrics: Mapping[str, Metric], held_out: HeldOut, beam: Sequence[str] | None
    ) -> None:
        """`metrics` by their titles in the table; `beam`: the translations of beam search."""
        self._metrics = metrics
        self._held_out = held_out
        self._beam = beam

    def judge_all(self, given: Sequence[tuple[Decoder, Sequence[str], Cost]]) -> list[Result]:
        """The results of decoders with their translations and costs."""
        results = []
        with progress_bar(
            "scoring", len(given), unit="decoders", silent=_SILENT_SECONDS, leave=False
        ) as bar:
            for decoder, hypotheses, cost in given:
                results.append(self.judge(decoder, hypotheses, cost))
                bar.update()
        return results

    def judge(self, decoder: Decoder, hypotheses: Sequence[str], cost: Cost) -> Result:
        references = self._held_out.references
        if len(hypotheses) != len(references):
            raise ValueError(
                f"{decoder.name}: {len(hypotheses)} translations for {len(references)} references"
            )
        statistics = {
            title: self._statistics(metric, hypotheses) for title, metric in self._metrics.items()
        }
        return Result(
            decoder=decoder,
            scores={
                title: self._metrics[title].aggregate(rows.sum(axis=0))
                for title, rows in statistics.items()
            },
            p_value=self._p_value(decoder.searched_for, statistics),
            exact=sum(map(str.__eq__, hypotheses, references)) / len(references),
            cost=cost,
        )

    def _statistics(self, metric: Metric, hypotheses: Sequence[str]) -> FloatArray:
        """[N, K] of the sentences."""
        return metric.statistics(list(hypotheses), self._held_out.other(metric))

    def _p_value(self, searched_for: str, statistics: Mapping[str, FloatArray]) -> float | None:
        metric = self._metrics.get(searched_for)
        if metric is None or self._beam is None:
            return None
        beam = self._statistics(metric, self._beam)
        return paired_bootstrap(metric, statistics[searched_for], beam).p_value


def table(results: Sequence[Result], metrics: Mapping[str, Metric]) -> str:
    """The results as text, one line per decoder."""
    rows = [
        (
            *(result.decoder.name, result.decoder.searched_for),
            *(metric.format(result.scores[title]) for title, metric in metrics.items()),
            *("" if result.p_value is None else p_value(result.p_value), f"{result.exact:.1%}"),
            *(f"{result.cost.charged:.1f}", f"{result.cost.made:.1f}"),
            f"{result.cost.seconds:.1f}",
        )
        for result in results
    ]
    head = ("decoder", "searches for", *metrics, "p", "exact", "charged", "made", "seconds")
    aligned = ("left", "left", *["right"] * (len(head) - 2))
    return tabulate(rows, head, colalign=aligned, disable_numparse=True)
