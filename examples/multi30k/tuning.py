"""Tuning on validation data: the sweeps of the paper's appendix, and what they choose.

Each sweep is one stage, a fairseq-mcts-sweep command. The second sweep of MCTS starts from what the
first one chose, so stages are made when the ones before them are done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import LENGTHS, PLUGIN, SEED, SWEEP_PROGRESS
from examples.common.sweeps import read_trials
from examples.multi30k.layout import METRICS, Layout
from examples.multi30k.values import ValueModel
from fairseq_mcts.tuning.choice import choose
from fairseq_mcts.tuning.grid import Setting, grid
from fairseq_mcts.tuning.results import Trial

BUDGET = 50

#: what the paper tried (appendix), or the part of it that matters here
BEAM = {"beam": ("2", "4", "6", "8", "10", "20"), "lenpen": ("0.4", "0.6", "0.8", "1.0")}
ALPHA = {"vgbs-alpha": (*("0.0", "0.3", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "1.0"),)}
TEMPERATURE = {"sr-temperature": ("0.25", "0.45", "0.65", "0.75", "0.85", "0.95")}
EXPLORATION = {"mcts-temperature": ("0.9", "1.1"), "mcts-c-puct": ("1", "2", "3", "4", "6")}
ROLLOUT_EXPLORATION = {"mcts-c-puct": EXPLORATION["mcts-c-puct"]}
BACKUP = {"mcts-choose": ("visits", "value"), "mcts-backup": ("mean", "max", "bellman")}

#: how many points of chrF a search by a value may be below beam search: what it gains by the
#: metric that it searches for is worth little if another metric takes it back
CHRF_GIVEN_UP = {"vgbs": 1.0, "mcts": 2.0, "srv": 2.0}


@dataclass(frozen=True)
class Sweep:
    """One grid for one decoder and one model."""

    name: str
    metric: str  # that chooses
    checkpoint: Path
    options: tuple[str, ...]  # of the decoder, as far as they are fixed
    grid: Mapping[str, Sequence[str]]
    sentences: int
    by_metric: bool = False  # whether the search itself asks the metric

    def settings(self) -> list[Setting]:
        return grid(self.grid)


def sweep_stage(layout: Layout, sweep: Sweep, model_stage: Stage) -> Stage:
    """The stage of a sweep; metrics that were not optimised are recorded too."""
    others = [name for name in (*METRICS, "chrf") if name != sweep.metric]
    metrics = [layout.metric(name) for name in (sweep.metric, *others)]
    steered = ("--search-metric", layout.metric(sweep.metric)) if sweep.by_metric else ()
    out = layout.sweep(sweep.name)
    return Stage(
        name=f"sweep-{sweep.name}",
        title=f"tune on {sweep.sentences} validation sentences: {sweep.name}",
        command=(
            *("fairseq-mcts-sweep", str(layout.binarised), *PLUGIN, "--cpu", "--seed", SEED),
            *("--gen-subset", "valid", "--path", str(sweep.checkpoint), "--batch-size", "50"),
            *(*layout.subword_options, *LENGTHS, *sweep.options, *steered),
            *(
                part
                for name, values in sweep.grid.items()
                for part in ("--sweep", f"{name}={','.join(values)}")
            ),
            *(part for metric in metrics for part in ("--sweep-metric", metric)),
            *("--sweep-sentences", str(sweep.sentences), "--sweep-out", str(out)),
        ),
        output=out,
        progress=SWEEP_PROGRESS,
        reads=(model_stage,),
    )


def best_trial(
    layout: Layout, sweep: Sweep, metric: str | None = None, least_chrf: float = 0.0
) -> Trial:
    """What a finished sweep chooses by its own metric, or would choose by another one.

    Settings with less chrF are left out, if any has as much.
    """
    trials = read_trials(layout.sweep(sweep.name), sweep.settings())
    allowed = [trial for trial in trials if trial.scores["chrf"] >= least_chrf] or trials
    return allowed[choose(allowed, metric or sweep.metric)]


def best_flags(
    layout: Layout, sweep: Sweep, metric: str | None = None, least_chrf: float = 0.0
) -> tuple[str, ...]:
    """The flags of the best trial."""
    return tuple(best_trial(layout, sweep, metric, least_chrf).flags)


def beam_sweep(layout: Layout, sentences: int) -> Sweep:
    """Beam search with GNMT's length normalisation."""
    return Sweep("beam", "bleu", layout.policy, GNMT, BEAM, sentences)


def tune_beam(
    layout: Layout, sentences: int, run: Callable[[Sweep], None]
) -> dict[str, tuple[str, ...]]:
    """The best options of beam search by metric."""
    sweep = beam_sweep(layout, sentences)
    run(sweep)
    return {metric: (*GNMT, *best_flags(layout, sweep, metric)) for metric in METRICS}


GNMT = ("--beam-normalization", "gnmt")
#: MCTS that ends with the best finished sentence it has seen
BEST_FOUND = {"--mcts-choose": "value", "--mcts-backup": "max"}


@dataclass(frozen=True)
class ValueTuning:
    """Tunes the decoders that search by the value of one model.

    For a metric that needs no reference there are also those that search by the metric itself.
    """

    layout: Layout
    model: ValueModel
    sentences: int
    run: Callable[[Sweep], None]

    @property
    def unprivileged(self) -> bool:
        return self.model.metric == "mlbertscore"

    def tune(self) -> dict[str, tuple[str, ...]]:
        """The best options by decoder."""
        mcts = self.mcts()
        chosen = {"vgbs": self.vgbs(), "srv": self.sample_and_rank("value"), "mcts": mcts}
        if self.unprivileged:
            chosen["sr"] = self.sample_and_rank("metric")
            chosen["mcts-rollout"] = self.rollouts(mcts)
            chosen["mcts-terminal"] = (*mcts, "--mcts-terminal", "metric")
        return chosen

    def vgbs(self) -> tuple[str, ...]:
        return self._tuned("vgbs", ("--search", "vgbs"), ALPHA)

    def sample_and_rank(self, rank_by: str) -> tuple[str, ...]:
        fixed = ("--search", "sr", "--sr-rank-by", rank_by)
        name = "srv" if rank_by == "value" else "sr"
        return self._tuned(name, fixed, TEMPERATURE, by_metric=rank_by == "metric")

    def mcts(self) -> tuple[str, ...]:
        """Temperature and exploration together, then backup and choice."""
        explored = self._tuned("mcts-exploration", ("--search", "mcts"), EXPLORATION, kind="mcts")
        return self._tuned("mcts-backup", explored, BACKUP, kind="mcts")

    def _least_chrf(self, kind: str) -> float:
        """What a decoder must have: less than the beam search tuned for the same metric."""
        if kind not in CHRF_GIVEN_UP:
            return 0.0
        beams = beam_sweep(self.layout, self.sentences)
        beam = best_trial(self.layout, beams, self.model.metric)
        return beam.scores["chrf"] - CHRF_GIVEN_UP[kind] / 100

    def rollouts(self, mcts: tuple[str, ...]) -> tuple[str, ...]:
        """The settings of V-MCTS, as in the paper, but for what suits a value that errs.

        Scores of rollouts are exact: exploration is tuned anew, the best sentence found is taken.
        """
        settings = dict(zip(mcts[::2], mcts[1::2], strict=True)) | BEST_FOUND
        del settings["--mcts-c-puct"]
        fixed = (
            *(part for setting in settings.items() for part in setting),
            "--mcts-leaf",
            "rollout",
        )
        return self._tuned("mcts-rollout", fixed, ROLLOUT_EXPLORATION, by_metric=True)

    def _sweep(
        self,
        name: str,
        fixed: tuple[str, ...],
        options: Mapping[str, Sequence[str]],
        by_metric: bool = False,
    ) -> Sweep:
        budget = ("--search-budget", str(BUDGET))
        return Sweep(
            f"{self.model.name}-{name}",
            self.model.metric,
            self.layout.value(self.model.folder),
            (*fixed, *budget),
            options,
            self.sentences,
            by_metric,
        )

    def _tuned(
        self,
        name: str,
        fixed: tuple[str, ...],
        options: Mapping[str, Sequence[str]],
        by_metric: bool = False,
        kind: str = "",
    ) -> tuple[str, ...]:
        sweep = self._sweep(name, fixed, options, by_metric)
        self.run(sweep)
        least_chrf = self._least_chrf(kind or name)
        return (*fixed, *best_flags(self.layout, sweep, least_chrf=least_chrf))
