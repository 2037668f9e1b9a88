"""Settings that optuna proposes; its study is kept where several commands can share it."""

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from fairseq_mcts.tuning.grid import Setting, Space
from fairseq_mcts.tuning.heartbeat import Heartbeat
from fairseq_mcts.tuning.objectives import Objective
from fairseq_mcts.tuning.owners import LAST_SEEN, OWNER, is_lost, this_process
from fairseq_mcts.tuning.proposals import Outcome, Proposal
from fairseq_mcts.tuning.ranges import Range
from fairseq_mcts.tuning.results import Trial
from fairseq_mcts.tuning.storage import import_optuna, open_storage

_TRIAL = "trial"  # names of attributes
_PRUNED = "pruned"
_GIVEN = "given"  # what a trial is to be set to, if it is not to be drawn
_NAMELESS_SECONDS = 5.0  # a process takes milliseconds to say that a trial is its own


@dataclass(frozen=True)
class StudyOptions:
    """What the command line says of a study."""

    storage: str
    sampler: str  # grid, tpe, random
    trials: int  # of a sampler that draws
    prune: str | None
    parts: int
    seed: int


class StudyProposals:
    """Proposals of a study, whose trials may be under way in other commands too.

    A grid is a study whose settings are all waiting from the beginning.
    """

    def __init__(
        self,
        options: StudyOptions,
        space: Space,
        objectives: Sequence[Objective],
        key: str,
        grid: Sequence[Setting] | None = None,
    ) -> None:
        """`key` differs where trials of another study can't be compared with those of this one."""
        self._optuna = import_optuna(f"--sampler {options.sampler}")
        self._finished_error = self._optuna.exceptions.UpdateFinishedTrialError
        self._options = options
        self._space = space
        self._objectives = objectives
        self._under_way: dict[int, Any] = {}  # optuna's trials
        self._is_grid = grid is not None
        self.name = f"sweep-{_digest(key, space, objectives, options)}"
        self._study = self._optuna.create_study(
            study_name=self.name,
            storage=open_storage(options.storage),
            load_if_exists=True,
            directions=["maximize" if one.is_metric else "minimize" for one in objectives],
            pruner=self._pruner(),
        )
        self._give_back_lost()
        if grid is not None:
            there = [self._setting_of(trial) for trial in self._trials() if not _is_failed(trial)]
            for setting in grid:
                if setting not in there:
                    self._enqueue(dict(setting.values))

    def next(self) -> Proposal | None:
        while self._has_more() or (self._give_back_lost() and self._has_more()):
            # by the number of trials: a resumed study must not draw again what it began with
            self._study.sampler = self._sampler(self._options.seed + len(self._begun()))
            trial = self._study.ask()
            if self._is_grid and self._is_superfluous(trial):
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            with self._if_not_taken_for_lost():
                trial.set_user_attr(OWNER, this_process())
                trial.set_user_attr(LAST_SEEN, time.time())
                setting = _suggested(trial, self._space)
                self._under_way[trial.number] = trial
                return Proposal(trial.number, setting)
        return None

    def goes_on(self, proposal: Proposal, part: int, score: float) -> bool:
        trial = self._under_way[proposal.number]
        with self._if_not_taken_for_lost():
            trial.report(score, part)
            return not trial.should_prune()
        return True

    def finish(self, proposal: Proposal, outcome: Outcome) -> None:
        trial = self._under_way.pop(proposal.number)
        with self._if_not_taken_for_lost():
            if outcome.trial is None:
                trial.set_user_attr(_PRUNED, {"parts": outcome.parts, "score": outcome.score})
                state = self._optuna.trial.TrialState.PRUNED
                self._study.tell(trial, state=state, skip_if_finished=True)
                return
            # translations are in the folder of --sweep-out alone
            trial.set_user_attr(_TRIAL, {**asdict(outcome.trial), "hypotheses": []})
            values = [one.of(outcome.trial) for one in self._objectives]
            self._study.tell(trial, values, skip_if_finished=True)

    def heartbeat(self) -> Heartbeat:
        """While it is entered, other machines know that this process is there."""
        return Heartbeat(self.still_there, (self._optuna.exceptions.OptunaError, OSError))

    def still_there(self) -> None:
        """Says so of all that is under way; called from a thread of its own."""
        for trial in list(self._under_way.values()):
            with self._if_not_taken_for_lost():
                trial.set_user_attr(LAST_SEEN, time.time())

    def finished(self) -> list[tuple[Setting, Trial]]:
        """In the order in which they were begun, those of other commands too."""
        return [
            (self._setting_of(trial), Trial(**trial.user_attrs[_TRIAL]))
            for trial in self._trials()
            if trial.state.name == "COMPLETE"
        ]

    def given_up(self) -> list[tuple[Setting, Outcome]]:
        return [
            (self._setting_of(trial), Outcome(None, **trial.user_attrs[_PRUNED]))
            for trial in self._trials()
            if trial.state.name == "PRUNED"
        ]

    def elsewhere(self) -> list[Setting]:
        """What is under way in other commands, or waits, and has no outcome yet."""
        trials = [trial for trial in self._trials() if trial.number not in self._under_way]
        ended = {self._setting_of(trial) for trial in trials if _has_outcome(trial)}
        going_on = [trial for trial in trials if not trial.state.is_finished()]
        found = dict.fromkeys(self._setting_of(trial) for trial in going_on)
        return [setting for setting in found if setting.values and setting not in ended]

    def progress(self) -> tuple[int, int]:
        """How many have an outcome, and how many there will be; a grid has each setting once."""
        there = [trial for trial in self._trials() if not _is_failed(trial)]
        ended = [trial for trial in there if _has_outcome(trial)]
        if self._is_grid:
            counts = [len({self._setting_of(trial) for trial in some}) for some in (ended, there)]
            return counts[0], counts[1]
        return len(ended), max(len(there), self._options.trials)

    def _trials(self) -> list[Any]:
        trials: list[Any] = self._study.get_trials(deepcopy=False)
        return trials

    def _begun(self) -> list[Any]:
        return [one for one in self._trials() if one.state.name not in ("FAIL", "WAITING")]

    def _has_more(self) -> bool:
        if any(trial.state.name == "WAITING" for trial in self._trials()):
            return True
        return not self._is_grid and len(self._begun()) < self._options.trials

    def _is_superfluous(self, trial: Any) -> bool:
        """Of a grid: made up by optuna since another command was faster, or there already.

        Commands that begin at the same moment all enqueue the whole grid. What waits is handed out
        in its order, so of two that are under way the earlier one goes on.
        """
        if _GIVEN not in trial.user_attrs:
            return True
        setting = self._setting_of(trial)
        return any(
            (_has_outcome(other) or other.number < trial.number)
            and self._setting_of(other) == setting
            for other in self._begun()
        )

    def _if_not_taken_for_lost(self) -> contextlib.suppress:
        """A trial that another machine has given to others is theirs: its file alone is kept."""
        return contextlib.suppress(self._finished_error)

    def _give_back_lost(self) -> bool:
        """Trials of processes that were killed are tried again; says whether there were any."""
        while any(_is_new(trial) for trial in self._trials()):
            time.sleep(0.1)
        found = False
        for trial in self._trials():
            if trial.state.name == "RUNNING" and is_lost(trial.user_attrs):
                try:
                    self._study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)
                except (self._finished_error, ValueError):
                    continue  # another command was faster
                found = True
                params = _params(trial)
                if params:
                    self._enqueue(params)
        return found

    def _enqueue(self, params: Mapping[str, Any]) -> None:
        self._study.enqueue_trial(dict(params), user_attrs={_GIVEN: dict(params)})

    def _setting_of(self, trial: Any) -> Setting:
        params = _params(trial)
        return Setting(
            tuple(
                (name, tried.as_text(params[name]) if isinstance(tried, Range) else params[name])
                for name, tried in self._space.items()
                if name in params
            )
        )

    def _sampler(self, seed: int) -> Any:
        if self._options.sampler == "tpe":
            return self._optuna.samplers.TPESampler(seed=seed)
        return self._optuna.samplers.RandomSampler(seed=seed)

    def _pruner(self) -> Any:
        pruners = self._optuna.pruners
        if self._options.prune == "median":
            return pruners.MedianPruner()
        if self._options.prune == "halving":
            return pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2)
        return pruners.NopPruner()


def _has_outcome(trial: Any) -> bool:
    return trial.state.name in ("COMPLETE", "PRUNED")


def _is_failed(trial: Any) -> bool:
    return bool(trial.state.name == "FAIL")


def _is_new(trial: Any) -> bool:
    """Whether a process has just begun with a trial, and has not yet said who it is."""
    if trial.state.name != "RUNNING" or OWNER in trial.user_attrs:
        return False
    return bool((datetime.now() - trial.datetime_start).total_seconds() < _NAMELESS_SECONDS)


def _params(trial: Any) -> Mapping[str, Any]:
    """What was drawn, or what a trial that waits is to be set to."""
    return {**trial.user_attrs.get(_GIVEN, {}), **trial.params}


def _suggested(trial: Any, space: Space) -> Setting:
    values = []
    for name, tried in space.items():
        if not isinstance(tried, Range):
            values.append((name, trial.suggest_categorical(name, list(tried))))
            continue
        draw = trial.suggest_int if tried.whole else trial.suggest_float
        step = {} if tried.step is None else {"step": tried.step}
        drawn = draw(name, tried.low, tried.high, log=tried.log, **step)
        values.append((name, tried.as_text(drawn)))
    return Setting(tuple(values))


def _digest(key: str, space: Space, objectives: Sequence[Objective], options: StudyOptions) -> str:
    described = {
        name: asdict(tried) if isinstance(tried, Range) else list(tried)
        for name, tried in space.items()
    }
    pruned = None if options.prune is None else [options.prune, options.parts]
    everything = [key, described, [one.name for one in objectives], pruned]
    return hashlib.blake2b(json.dumps(everything).encode(), digest_size=8).hexdigest()
