"""fairseq-mcts-sweep: decode some sentences with many settings and tell the best one."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one, refuse_impossible_workers
from fairseq_mcts.cli.work_options import make_engine
from fairseq_mcts.metrics import Metric
from fairseq_mcts.progress import progress_bar
from fairseq_mcts.register import register
from fairseq_mcts.subset import parsing
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.choice import Bound, choose, parse_bounds
from fairseq_mcts.tuning.grid import Setting, extremes, grid, parse_options
from fairseq_mcts.tuning.objectives import refuse_pruning
from fairseq_mcts.tuning.parser import PARTS, PROGRAM, TRIALS, make_parser
from fairseq_mcts.tuning.proposals import GridProposals, Outcome, Proposal, Proposals
from fairseq_mcts.tuning.results import Trial, TrialStore
from fairseq_mcts.tuning.storage import explained_storage_errors, import_optuna
from fairseq_mcts.tuning.study import StudyOptions, StudyProposals
from fairseq_mcts.tuning.tables import (
    as_text,
    elsewhere_as_text,
    front_as_text,
    given_up_as_text,
)
from fairseq_mcts.work import Staff, explained_if_full, locked

if TYPE_CHECKING:
    from fairseq_mcts.tuning.subject import Subject

_SILENT_SECONDS = 5.0  # what takes less shows no progress


def complete_parser() -> argparse.ArgumentParser:
    """With all options that fairseq knows late."""
    return parsing.complete_parser(make_parser)


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Try what has not been tried, print the table, write the best setting."""
    from fairseq_mcts.tuning.best import refuse_missing_folder
    from fairseq_mcts.tuning.part_work import PartWork
    from fairseq_mcts.tuning.subject import Subject
    from fairseq_mcts.tuning.sweepable import sweepable, switches, whole_number_options
    from fairseq_mcts.tuning.trying import Trying

    options, _ = parse(make_parser, arguments)
    _refuse_unfit(options)
    if options.write_settings is not None:
        refuse_missing_folder(options.write_settings, options.sweep_out)
    engine = make_engine(options)
    space = parse_options(options.sweep, sweepable(), whole_number_options(), switches())
    settings = grid(space) if options.sampler == "grid" else None
    subject = Subject(arguments)
    # a value that some option refuses is found before anything is decoded
    for setting in settings or extremes(space):
        subject.key(setting)
    judge, objectives = subject.judge, subject.objectives
    bounds = parse_bounds(options.keep, subject.metrics)
    refuse_pruning(options.prune, objectives)
    store = TrialStore(options.sweep_out)
    is_study = settings is None or options.storage is not None or options.prune is not None
    with (
        explained_if_full(options.sweep_out),
        locked(options.sweep_out, options.sweep_out, shared=is_study),
        Staff(engine, PartWork(arguments)) as staff,
    ):
        if settings is not None and not is_study:
            of_grid = GridProposals(settings)
            with _Told(of_grid, judge, len(settings)) as told:
                Trying(subject, store, told).work_through(staff)
            tried, trials = settings, of_grid.trials()
        else:
            of_study = _study_options(options)
            with explained_storage_errors(of_study.storage):
                study = StudyProposals(
                    of_study, space, objectives, subject.key(Setting(())), settings
                )
                print(f"study {study.name} in {of_study.storage}", flush=True)
                done, total = study.progress()
                with study.heartbeat(), _Told(study, judge, total, done) as told:
                    Trying(subject, store, told).work_through(staff)
                tried, trials = _of_study(study, settings, judge)
        _report(arguments, tried, trials, subject, bounds)


def _refuse_unfit(options: argparse.Namespace) -> None:
    from fairseq_mcts.tuning.plots import import_matplotlib

    refuse_below_one(options, "sweep_sentences", "trials", "parts")
    refuse_impossible_workers(options)
    if options.sampler == "grid" and options.trials is not None:
        raise ValueError(f"--trials {options.trials}: a grid tries all combinations; --sampler tpe")
    if options.prune is None and options.parts is not None:
        raise ValueError(f"--parts {options.parts}: has no effect without --prune")
    if options.sampler != "grid":
        import_optuna(f"--sampler {options.sampler}")
    if options.prune is not None:
        import_optuna(f"--prune {options.prune}")
    if options.plots is not None:
        import_matplotlib(options.plots)


def _study_options(options: argparse.Namespace) -> StudyOptions:
    return StudyOptions(
        storage=options.storage or f"sqlite:///{options.sweep_out.resolve() / 'study.db'}",
        sampler=options.sampler,
        trials=options.trials or TRIALS,
        prune=options.prune,
        parts=options.parts or PARTS,
        seed=options.seed,
    )


def _of_study(
    study: StudyProposals, settings: Sequence[Setting] | None, metric: Metric
) -> tuple[list[Setting], list[Trial]]:
    """What is finished, a grid in its order; tells what was given up or is not finished yet."""
    finished = dict(study.finished())  # a setting that was drawn twice counts once
    if not finished:
        raise ValueError("no setting was decoded to its end yet")
    if settings is not None:
        finished = {setting: finished[setting] for setting in settings if setting in finished}
    given_up = study.given_up()
    if given_up:
        print(f"\n{given_up_as_text(given_up, metric)}")
    elsewhere = study.elsewhere()
    if elsewhere:
        print(f"\n{elsewhere_as_text(elsewhere)}")
    return list(finished), list(finished.values())


class _Told:
    """Proposals that say on the terminal what comes of them, and how much is left."""

    def __init__(self, proposals: Proposals, metric: Metric, total: int, done: int = 0) -> None:
        self._proposals = proposals
        self._metric = metric
        self._total = total
        self._done = done
        self._bar = progress_bar(
            "sweep", total, done=done, unit="settings", silent=_SILENT_SECONDS, leave=False
        )
        self.next = proposals.next
        self.goes_on = proposals.goes_on

    def __enter__(self) -> "_Told":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def finish(self, proposal: Proposal, outcome: Outcome) -> None:
        self._proposals.finish(proposal, outcome)
        self._done += 1
        if outcome.trial is None:
            score, how = outcome.score, f"given up after part {outcome.parts}"
        else:
            score = outcome.trial.scores[self._metric.name]
            how = "already there" if outcome.known else f"{outcome.trial.seconds:.1f} s"
        number = f"{self._done}/{self._total}"
        shown = f"{self._metric.name} {self._metric.format(score)}"
        self._bar.clear()
        print(f"{number} {proposal.setting}: {shown} ({how})", flush=True)
        self._bar.update()


def _report(
    arguments: Sequence[str],
    settings: Sequence[Setting],
    trials: Sequence[Trial],
    subject: "Subject",
    bounds: Sequence[Bound],
) -> None:
    """The table, the best setting in a file, the front of several objectives, plots."""
    from fairseq_mcts.subset.options import generator_options
    from fairseq_mcts.tuning.best import flags_beside, write_best
    from fairseq_mcts.tuning.plots import draw

    sentences, metrics, objectives = len(subject.sources), subject.metrics, subject.objectives
    judge = subject.judge
    best = choose(trials, judge.name, bounds)
    print(f"\n{sentences} sentences\n{as_text(settings, trials, metrics, best, judge)}")
    for metric in metrics:
        print(f"{metric.name}: {metric.signature()}")
    if len(objectives) > 1:
        print(f"\n{front_as_text(settings, trials, metrics, objectives)}\n")
    options, cfg = parse(make_parser, [*arguments, *settings[best].flags()])
    best_options = generator_options(cfg)
    origin: dict[str, Any] = {
        "command": shlex.join([PROGRAM, *arguments]),
        "subset": cfg.dataset.gen_subset,
        "sentences": sentences,
        "settings": len(settings),
    }
    path = options.write_settings or options.sweep_out / "best.json"
    write_best(path, settings[best], best_options, trials[best], judge.name, origin)
    flags = ["--search-settings", str(path), *flags_beside(best_options)]
    print(f"to decode so: {shlex.join(flags)}")
    if options.plots is not None:
        draw(options.plots, settings, trials, judge.name, objectives)


if __name__ == "__main__":
    main()
