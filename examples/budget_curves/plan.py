"""The stages: each is one fairseq-mcts-sweep, which can be run by hand as well."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.budget_curves.ways import Way, make_beam, make_ways
from examples.common.runner import Stage
from examples.common.stages import LENGTHS, PLUGIN, SEED, SWEEP_PROGRESS

PROBES = (1, 4, 16, 64, 256)  # numbers of samples whose charge is measured


@dataclass(frozen=True)
class Given:
    """What is searched with, and what for."""

    data: Path  # folder of fairseq-preprocess
    path: Path  # checkpoint with policy and value
    metric: str  # that the value was trained for; it needs no reference
    bertscore: str
    text: tuple[str, ...]  # options of subwords
    subset: str = "test"
    tuning_subset: str = "valid"


@dataclass(frozen=True)
class Sizes:
    """How much is decoded; the defaults take some half an hour of two cores."""

    sentences: int = 300
    tuning_sentences: int = 100
    probing_sentences: int = 30
    tuning_budget: int = 50
    budgets: tuple[int, ...] = (1, 4, 16, 50, 100, 300)
    sample_budgets: tuple[int, ...] = (1, 4, 16, 50, 100)  # of samples and MBR
    chrf_given_up: float = 1.0  # points that a tuned setting may cost


@dataclass(frozen=True)
class Plan:
    """The stages, with their folders below `work`."""

    given: Given
    work: Path
    sizes: Sizes
    names: tuple[str, ...]  # of the ways to decode

    @property
    def beam(self) -> Way:
        return make_beam(self.given.metric)

    @property
    def ways(self) -> tuple[Way, ...]:
        """Those that were asked for, those whose settings or charges they take, and beam search."""
        ways = make_ways(self.given.metric, self.given.bertscore)
        needed = {way.settings_of for way in ways if way.name in self.names}
        needed |= {
            "sr" for way in ways if way.name in self.names and way.counted_by == "sr-samples"
        }
        return tuple(way for way in ways if way.name in {*self.names, *needed, self.beam.name})

    def way(self, name: str) -> Way:
        return next(way for way in self.ways if way.name == name)

    def budgets(self, way: Way) -> tuple[int, ...]:
        """What the way is decoded with; beam search and equal charges have numbers of their own."""
        return self.sizes.budgets if way.by_value else self.sizes.sample_budgets

    def tune(self, way: Way) -> Stage:
        """Find the best setting on validation sentences; it must keep chrF, if it is not for it."""
        others = ["chrf"] if way.judge == self.given.metric else [self.given.metric]
        kept = f"chrf={self.sizes.chrf_given_up:g}"
        keep = ("--keep", kept) if others == ["chrf"] and way != self.beam else ()
        budget = ("--search-budget", str(self.sizes.tuning_budget))
        return self._sweep(
            f"tune-{way.name}",
            f"tune on validation sentences: {way.name}",
            self.given.tuning_subset,
            self.sizes.tuning_sentences,
            (*way.options, *(() if way == self.beam else budget), *keep),
            way.tuned,
            (way.judge, *others),
            reads=(),
        )

    def probe(self, way: Way, flags: Sequence[str]) -> Stage:
        """Measure what numbers of samples are charged."""
        numbers = ",".join(map(str, PROBES))
        return self._sweep(
            f"probe-{way.name}",
            f"measure what samples are charged: {way.name}",
            self.given.tuning_subset,
            self.sizes.probing_sentences,
            (*way.options, *flags),
            (f"sr-samples={numbers}",),
            (way.judge,),
            reads=(self.tune(way),),
        )

    def decode(self, way: Way, flags: Sequence[str], numbers: Sequence[int]) -> Stage:
        """Translate with tuned flags, with each of several budgets."""
        shown = ",".join(map(str, numbers))
        tuned = self.way(way.settings_of)
        return self._sweep(
            f"decode-{way.name}",
            f"translate with budgets {shown}: {way.name}",
            self.given.subset,
            self.sizes.sentences,
            (*way.options, *flags),
            (f"{way.counted_by}={shown}",),
            (way.judge,),
            reads=(self.tune(tuned),),
        )

    def _sweep(
        self,
        name: str,
        title: str,
        subset: str,
        sentences: int,
        options: tuple[str, ...],
        swept: Sequence[str],
        metrics: Sequence[str],
        reads: tuple[Stage, ...],
    ) -> Stage:
        out = self.work / name
        return Stage(
            name=name,
            title=title,
            command=(
                *("fairseq-mcts-sweep", str(self.given.data), *PLUGIN, "--cpu", "--seed", SEED),
                *("--gen-subset", subset, "--sweep-sentences", str(sentences)),
                *("--path", str(self.given.path), "--batch-size", "50", *self.given.text),
                *(*LENGTHS, *options),
                *(part for option in swept for part in ("--sweep", option)),
                *(part for metric in metrics for part in ("--sweep-metric", metric)),
                *("--sweep-out", str(out)),
            ),
            output=out,
            progress=SWEEP_PROGRESS,
            reads=reads,
        )
