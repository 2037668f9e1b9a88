"""What each round has brought: search's gain, and how far its values are from the truth."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate

from examples.common.runner import Runner
from examples.common.training_log import last_validation
from examples.expert_iteration.plan import DECODERS, Plan
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.bootstrap import paired_bootstrap
from fairseq_mcts.metrics.system_output import read_system

_VALUE = re.compile(r"^V-(\d+)\t(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class HeldOut:
    """Sources and references of what is translated, as plain text."""

    sources: list[str]
    references: list[str]


def values_of(path: Path, count: int) -> list[float]:
    """The value of each sentence's best hypothesis, in the order of the data."""
    found: dict[int, float] = {}
    for number, value in _VALUE.findall(path.read_text(encoding="utf-8")):
        found.setdefault(int(number), float(value))
    return [found[number] for number in range(count)]


def table(plan: Plan, runner: Runner, held_out: HeldOut) -> str:
    """One line a round and search; differences are to beam search with the first policy."""
    judge = _Judge(plan, held_out)
    rows = [judge.row("", "beam", "beam", "")]
    for number in range(plan.sizes.rounds + 1):
        within = last_validation(runner.log(plan.rounds.train(number)))["value_pearson_within"]
        rows += [judge.row(number, one, f"{one}-{number}", within) for one in DECODERS]
    if plan.policy_updates:
        rows.append(judge.row("policy", "beam", "beam-new", ""))
        rows += [judge.row("policy", one, f"{one}-new", "") for one in DECODERS]
    head = ["round", "search", judge.metric.name, "gain", "p", "chrF", "value - true", "within"]
    digits = ("", "", ".4f", "+.4f", ".3f", ".2f", "+.4f", ".3f")
    return tabulate(rows, head, floatfmt=digits)


class _Judge:
    """Compares decodings with beam search."""

    def __init__(self, plan: Plan, held_out: HeldOut) -> None:
        self.metric, self._chrf = build_metric(plan.given.metric), build_metric("chrf")
        self._references = held_out.references
        self._others = held_out.references if self.metric.privileged else held_out.sources
        self._decoded, self._output = plan.work / "decoded", f"generate-{plan.subset}.txt"
        beam = read_system(self._path("beam")).hypotheses
        self._beam = self.metric.statistics(beam, self._others)

    def row(self, number: object, search: str, name: str, within: object) -> Sequence[object]:
        """A line of the table about one decoding."""
        path = self._path(name)
        hypotheses = read_system(path).hypotheses
        statistics = self.metric.statistics(hypotheses, self._others)
        compared: Sequence[object] = (self.metric.aggregate(statistics.sum(axis=0)), "", "")
        if name != "beam":
            paired = paired_bootstrap(self.metric, statistics, self._beam)
            compared = (paired.score, paired.difference, paired.p_value)
        chrf = 100 * self._chrf.corpus_score(hypotheses, self._references)
        return [number, search, *compared, chrf, self._overrated(path, search, hypotheses), within]

    def _overrated(self, path: Path, search: str, hypotheses: list[str]) -> object:
        """How far the values of what was chosen lie above its scores."""
        if search == "beam":
            return ""
        values = values_of(path, len(hypotheses))
        return float(np.mean(values) - np.mean(self.metric.score(hypotheses, self._others)))

    def _path(self, name: str) -> Path:
        return self._decoded / name / self._output
