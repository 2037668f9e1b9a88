"""What a report is made of: the runs and their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from fairseq_mcts.pictures.record_file import Record
from fairseq_mcts.report.curves import scaling_curves
from fairseq_mcts.report.generated import Generated
from fairseq_mcts.report.watch import Losses, find_losses, length_ratio


@dataclass(frozen=True)
class MetricColumn:
    """A metric, as far as its numbers have to be shown."""

    name: str
    factor: float  # customary scale of printed scores: 100 for BLEU
    digits: int
    signature: str
    sentence_signature: str


@dataclass(frozen=True)
class CorpusScore:
    """A run's score by one metric."""

    score: float
    is_optimised: bool  # the decoding went by this metric, or by one of the same judge
    difference: float | None = None  # to the baseline; None: not tested
    p_value: float | None = None


@dataclass(frozen=True)
class ReportedRun:
    """One decoding of the test set."""

    name: str
    optimised: str | None  # the metric that it went by, "none", or None if not stated
    hypotheses: Sequence[str]  # [N]
    generated: Generated
    records: dict[int, Record]  # searches by sentence
    corpus: Sequence[CorpusScore]  # [M] one a metric
    sentences: Sequence[Sequence[float]]  # [M][N]

    @property
    def search(self) -> str:
        """The decoder's name, if it is known."""
        named = [record["search"] for record in self.records.values()]
        return self.generated.search or (named[0] if named else "")

    @property
    def charged_per_token(self) -> float | None:
        """Network evaluations for an output token, by the paper's accounting."""
        tokens = sum(len(one) for one in self.generated.logprobs.values())
        charged = [self.generated.charged_to(one) for one in range(len(self.hypotheses))]
        if not tokens or any(one is None for one in charged):
            return None
        return sum(one for one in charged if one is not None) / tokens

    @property
    def made_per_token(self) -> float | None:
        """Network evaluations for an output token that had to be made."""
        tokens = sum(len(one) for one in self.generated.logprobs.values())
        made = self.generated.made
        return sum(made.values()) / tokens if tokens and made else None

    @property
    def likelihood(self) -> float | None:
        """Mean over sentences of the geometric mean of their tokens' probabilities."""
        each = [self.generated.likelihood(one) for one in range(len(self.hypotheses))]
        known = [one for one in each if one is not None]
        return fmean(known) if known else None


@dataclass(frozen=True)
class ValueGap:
    """What a run's value promised beside what its translations got."""

    value: float  # means over sentences
    score: float
    correlation: float | None  # None: one of them never changes

    @property
    def gap(self) -> float:
        return self.value - self.score


@dataclass(frozen=True)
class Report:
    """Runs over the same sentences, compared with one of them."""

    title: str
    metrics: Sequence[MetricColumn]  # [M]
    runs: Sequence[ReportedRun]
    baseline: int  # number of a run
    sources: Sequence[str] | None  # [N]
    references: Sequence[str] | None  # [N]
    resamples: int
    seed: int

    @property
    def num_sentences(self) -> int:
        return len(self.runs[0].hypotheses)

    @cached_property
    def losses(self) -> list[list[Losses]]:
        """[run][sentence]; without sources there is nothing to lose."""
        sources = self.sources
        if sources is None:
            return [[Losses((), (), ())] * self.num_sentences for _ in self.runs]
        return [
            [
                find_losses(source, run.hypotheses[number], self._reference(number))
                for number, source in enumerate(sources)
            ]
            for run in self.runs
        ]

    @property
    def curves(self) -> list[list[int]]:
        """Numbers of runs that are one decoder at several budgets, the cheapest first."""
        return scaling_curves(self.runs)

    def length_ratio(self, run: ReportedRun) -> float | None:
        """Words of the translations for each word of the references, or of the sources."""
        others = self.references or self.sources
        return length_ratio(" ".join(run.hypotheses), " ".join(others)) if others else None

    def value_gap(self, run: ReportedRun, metric: int) -> ValueGap | None:
        """The value of a run's translations beside their scores; None: it has no values."""
        values = run.generated.values
        numbers = [one for one in range(self.num_sentences) if one in values]
        if not numbers:
            return None
        pairs = [(values[one], run.sentences[metric][one]) for one in numbers]
        return ValueGap(
            fmean(value for value, _ in pairs),
            fmean(score for _, score in pairs),
            _correlation(pairs),
        )

    def judged_by(self, run: ReportedRun) -> int:
        """The metric that a run's value is about, or one by the same judge; else the first."""
        partial = [number for number, score in enumerate(run.corpus) if score.is_optimised]
        name = (run.optimised or "").partition(":")[0]
        same = [number for number in partial if self.metrics[number].name == name]
        return [*same, *partial, 0][0]

    def _reference(self, number: int) -> str | None:
        return None if self.references is None else self.references[number]


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's, of [n] pairs."""
    means = [fmean(column) for column in zip(*pairs, strict=True)]
    deviations = [(one - means[0], other - means[1]) for one, other in pairs]
    spread = fmean(one**2 for one, _ in deviations) * fmean(other**2 for _, other in deviations)
    return fmean(one * other for one, other in deviations) / spread**0.5 if spread > 0 else None
