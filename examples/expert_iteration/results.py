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
    """One line a round and search; differences are to beam search."""
    metric, chrf = build_metric(plan.given.metric), build_metric("chrf")
    others = held_out.references if metric.privileged else held_out.sources
    output = f"generate-{plan.subset}.txt"
    beam = read_system(plan.work / "decoded" / "beam" / output).hypotheses
    beam_statistics = metric.statistics(beam, others)
    beam_chrf = 100 * chrf.corpus_score(beam, held_out.references)
    beam_score = metric.aggregate(beam_statistics.sum(axis=0))
    rows: list[Sequence[object]] = [["", "beam", beam_score, "", "", beam_chrf, "", ""]]
    for number in range(plan.sizes.rounds + 1):
        within = last_validation(runner.log(plan.rounds.train(number)))["value_pearson_within"]
        for decoder in DECODERS:
            path = plan.work / "decoded" / f"{decoder}-{number}" / output
            hypotheses = read_system(path).hypotheses
            paired = paired_bootstrap(
                metric, metric.statistics(hypotheses, others), beam_statistics
            )
            values = values_of(path, len(hypotheses))
            true = metric.score(hypotheses, others)
            rows.append(
                [
                    *(number, decoder, paired.score, paired.difference, paired.p_value),
                    100 * chrf.corpus_score(hypotheses, held_out.references),
                    *(float(np.mean(values) - np.mean(true)), within),
                ]
            )
    head = ["round", "search", metric.name, "gain", "p", "chrF", "value - true", "within"]
    digits = ("", "", ".4f", "+.4f", ".3f", ".2f", "+.4f", ".3f")
    return tabulate(rows, head, floatfmt=digits)
