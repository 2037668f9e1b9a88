"""Runs the stages and gathers what they have found: one curve for each way to decode."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from examples.budget_curves.charges import equally_charged
from examples.budget_curves.plan import PROBES, Plan
from examples.budget_curves.ways import GROUPS, Way
from examples.common.runner import Stage
from examples.common.sweeps import read_trials
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial

Flags = tuple[str, ...]


class Runs(Protocol):
    """Who runs stages: see `Runner`."""

    def run(self, stages: Sequence[Stage]) -> None: ...


@dataclass(frozen=True)
class Curve:
    """The translations of one way, by budget."""

    way: Way
    flags: Flags  # that tuning chose
    trials: dict[int, Trial]
    numbers: dict[int, int]  # what each budget set the way's own count to


def run(plan: Plan, runner: Runs) -> list[Curve]:
    """Tune, measure charges, translate; the curves come in the order of their groups."""
    tuned = [way for way in plan.ways if way.tuned]
    runner.run([plan.tune(way) for way in tuned])
    flags = {way.name: chosen(plan.tune(way).output) for way in tuned}
    numbers = _numbers(plan, runner, flags)
    own = {way.name: without(flags[way.settings_of], way.counted_by) for way in plan.ways}
    stages = [
        plan.decode(way, own[way.name], sorted({*numbers[way.name].values()})) for way in plan.ways
    ]
    runner.run(stages)
    found = []
    for way, stage in zip(plan.ways, stages, strict=True):
        counts = numbers[way.name]
        trials = read_counted(stage.output, way.counted_by, [*counts.values()])
        by_budget = dict(zip(counts, trials, strict=True))
        found.append(Curve(way, flags[way.settings_of], by_budget, counts))
    return sorted(found, key=lambda curve: GROUPS.index(curve.way.group))


def _numbers(plan: Plan, runner: Runs, flags: Mapping[str, Flags]) -> dict[str, dict[int, int]]:
    """For each way what its budgets set its own count to."""
    found = {way.name: {one: one for one in plan.budgets(way)} for way in plan.ways}
    beam = int(value_of(flags[plan.beam.name], "beam"))
    found[plan.beam.name] = {beam: beam}
    for way in plan.ways:
        if way.charged_like:
            found[way.name] = _equal_charges(plan, runner, flags, way)
    return found


def _equal_charges(
    plan: Plan, runner: Runs, flags: Mapping[str, Flags], distinct: Way
) -> dict[int, int]:
    plain, budgets = plan.way(distinct.charged_like), plan.budgets(distinct)
    probes = [plan.probe(way, flags[way.name]) for way in (plain, distinct)]
    runner.run(probes)
    of_plain, of_distinct = (read_counted(one.output, "sr-samples", PROBES) for one in probes)
    numbers = equally_charged(budgets, PROBES, of_plain, of_distinct)
    return dict(zip(budgets, numbers, strict=True))


def chosen(folder: Path) -> Flags:
    """The flags that a finished sweep found best."""
    best = json.loads((folder / "best.json").read_text(encoding="utf-8"))
    return tuple(shlex.split(best["how"]["best"]))


def value_of(flags: Flags, option: str) -> str:
    return flags[flags.index(f"--{option}") + 1]


def without(flags: Flags, option: str) -> Flags:
    """The flags but for an option and its value."""
    pairs = zip(flags[::2], flags[1::2], strict=True)
    return tuple(part for pair in pairs if pair[0] != f"--{option}" for part in pair)


def read_counted(folder: Path, option: str, numbers: Sequence[int]) -> list[Trial]:
    """The trials of a sweep over one option."""
    return read_trials(folder, [Setting(((option, str(one)),)) for one in numbers])
