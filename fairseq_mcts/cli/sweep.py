"""fairseq-mcts-sweep: decode some sentences with many settings and tell the best one."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one
from fairseq_mcts.metrics import Metric
from fairseq_mcts.register import register
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.grid import Setting, Space, extremes, grid, parse_options
from fairseq_mcts.tuning.objectives import Objective, parse_objectives
from fairseq_mcts.tuning.parser import PARTS, PROGRAM, TRIALS, make_parser
from fairseq_mcts.tuning.proposals import GridProposals, Outcome, Proposal, Proposals
from fairseq_mcts.tuning.results import Trial, best_of
from fairseq_mcts.tuning.tables import as_text, front_as_text, given_up_as_text

if TYPE_CHECKING:
    from fairseq_mcts.tuning.processes import WorkbenchPool
    from fairseq_mcts.tuning.study import StudyProposals
    from fairseq_mcts.tuning.workbench import Identity, Workbench


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Try what has not been tried, print the table, write the best setting."""
    from fairseq_mcts.subset.options import check_options
    from fairseq_mcts.tuning.best import refuse_missing_folder
    from fairseq_mcts.tuning.sweepable import sweepable, whole_number_options
    from fairseq_mcts.tuning.workbench import build_metrics

    options, _ = parse(make_parser, arguments)
    _refuse_unfit(options)
    if options.write_settings is not None:
        refuse_missing_folder(options.write_settings, options.sweep_out)
    space = parse_options(options.sweep, sweepable(), whole_number_options())
    settings = grid(space) if options.sampler == "grid" else None
    # a value that some option refuses is found before anything is decoded
    for setting in settings or extremes(space):
        check_options(parse(make_parser, [*arguments, *setting.flags()])[1])
    metrics = build_metrics(options.sweep_metric)
    objectives = parse_objectives(options.objective, metrics)
    if options.prune is not None and len(objectives) > 1:
        raise ValueError(f"--prune {options.prune}: not with several objectives")
    with _workbench(arguments, options.workers) as bench:
        if settings is not None and options.storage is None and options.prune is None:
            of_grid = GridProposals(settings)
            bench.work_through(_Told(of_grid, metrics[0], len(settings)))
            tried, trials = settings, of_grid.trials()
        else:
            study = _study(options, space, objectives, bench.identity, settings)
            bench.work_through(_Told(study, metrics[0], study.total(), len(study.finished())))
            tried, trials = _of_study(study, settings, metrics[0])
        sentences = bench.identity.sentences
    _report(arguments, tried, trials, metrics, objectives, sentences)


def _refuse_unfit(options: argparse.Namespace) -> None:
    from fairseq_mcts.tuning.plots import import_matplotlib
    from fairseq_mcts.tuning.storage import import_optuna

    refuse_below_one(options, "sweep_sentences", "trials", "parts", "workers")
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


def _workbench(
    arguments: Sequence[str], workers: int
) -> "AbstractContextManager[Workbench | WorkbenchPool]":
    if workers == 1:
        from fairseq_mcts.tuning.workbench import Workbench

        return nullcontext(Workbench(arguments))
    from fairseq_mcts.tuning.processes import WorkbenchPool

    return WorkbenchPool(arguments, workers)


def _study(
    options: argparse.Namespace,
    space: Space,
    objectives: Sequence[Objective],
    identity: "Identity",
    settings: Sequence[Setting] | None,
) -> "StudyProposals":
    from fairseq_mcts.tuning.study import StudyOptions, StudyProposals

    of_study = StudyOptions(
        storage=options.storage or f"sqlite:///{options.sweep_out.resolve() / 'study.db'}",
        sampler=options.sampler,
        trials=options.trials or TRIALS,
        prune=options.prune,
        parts=options.parts or PARTS,
        seed=options.seed,
    )
    study = StudyProposals(of_study, space, objectives, identity.key, settings)
    print(f"study {study.name} in {of_study.storage}", flush=True)
    return study


def _of_study(
    study: "StudyProposals", settings: Sequence[Setting] | None, metric: Metric
) -> tuple[list[Setting], list[Trial]]:
    """What is finished, a grid in its order; tells what was given up."""
    finished = dict(study.finished())  # a setting that was drawn twice counts once
    if not finished:
        raise ValueError("no setting was decoded to its end yet")
    if settings is not None:
        finished = {setting: finished[setting] for setting in settings if setting in finished}
    given_up = study.given_up()
    if given_up:
        print(f"\n{given_up_as_text(given_up, metric)}")
    return list(finished), list(finished.values())


class _Told:
    """Proposals that say on the terminal what comes of them."""

    def __init__(self, proposals: Proposals, metric: Metric, total: int, done: int = 0) -> None:
        self._proposals = proposals
        self._metric = metric
        self._total = total
        self._done = done
        self.next = proposals.next
        self.goes_on = proposals.goes_on
        self.still_there = proposals.still_there

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
        print(f"{number} {proposal.setting}: {shown} ({how})", flush=True)


def _report(
    arguments: Sequence[str],
    settings: Sequence[Setting],
    trials: Sequence[Trial],
    metrics: Sequence[Metric],
    objectives: Sequence[Objective],
    sentences: int,
) -> None:
    """The table, the best setting in a file, the front of several objectives, plots."""
    from fairseq_mcts.subset.options import generator_options
    from fairseq_mcts.tuning.best import flags_beside, write_best
    from fairseq_mcts.tuning.plots import draw

    print(f"\n{sentences} sentences\n{as_text(settings, trials, metrics)}")
    for metric in metrics:
        print(f"{metric.name}: {metric.signature()}")
    if len(objectives) > 1:
        print(f"\n{front_as_text(settings, trials, metrics, objectives)}\n")
    best = best_of(trials, metrics[0].name)
    options, cfg = parse(make_parser, [*arguments, *settings[best].flags()])
    best_options = generator_options(cfg)
    origin: dict[str, Any] = {
        "command": shlex.join([PROGRAM, *arguments]),
        "subset": cfg.dataset.gen_subset,
        "sentences": sentences,
        "settings": len(settings),
    }
    path = options.write_settings or options.sweep_out / "best.json"
    write_best(path, settings[best], best_options, trials[best], metrics[0].name, origin)
    flags = ["--search-settings", str(path), *flags_beside(best_options)]
    print(f"to decode so: {shlex.join(flags)}")
    if options.plots is not None:
        draw(options.plots, settings, trials, metrics[0].name, objectives)


if __name__ == "__main__":
    main()
