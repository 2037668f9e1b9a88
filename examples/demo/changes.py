"""Sentences whose translation a search has changed, for the better and for the worse."""

from collections.abc import Sequence
from dataclasses import dataclass

from tabulate import tabulate

from examples.demo.results import HeldOut
from fairseq_mcts.metrics.base import Metric


@dataclass(frozen=True)
class Change:
    """One sentence, by two decoders."""

    number: int
    gains: tuple[float, ...]
    """By each of several metrics."""

    @property
    def is_better(self) -> bool:
        """Whether all metrics agree that it is."""
        return min(self.gains) > 0

    @property
    def is_worse(self) -> bool:
        return max(self.gains) < 0


def changes(
    before: Sequence[str], after: Sequence[str], held_out: HeldOut, metrics: Sequence[Metric]
) -> list[Change]:
    """Sentences with another translation, those that gained most by the sum of `metrics` first."""

    def scores(texts: Sequence[str]) -> list[list[float]]:
        return [metric.score(list(texts), held_out.other(metric)) for metric in metrics]

    old, new = scores(before), scores(after)
    found = [
        Change(number, tuple(b[number] - a[number] for a, b in zip(old, new, strict=True)))
        for number in range(len(before))
        if before[number] != after[number]
    ]
    return sorted(found, key=lambda change: (-sum(change.gains), change.number))


def shown(change: Change, texts: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A sentence with a line for each text; `texts` are named lists of all sentences."""
    rows = [(name, lines[change.number]) for name, lines in texts]
    return f"sentence {change.number}\n{tabulate(rows, tablefmt='plain', disable_numparse=True)}"
