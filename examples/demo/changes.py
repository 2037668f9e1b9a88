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
    scores: tuple[float, ...]
    """Of the new translation, by the same."""

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
    """Sentences with another translation, in the order of their numbers."""

    def scores(texts: Sequence[str]) -> list[list[float]]:
        return [metric.score(list(texts), held_out.other(metric)) for metric in metrics]

    old, new = scores(before), scores(after)
    return [
        Change(
            number,
            tuple(b[number] - a[number] for a, b in zip(old, new, strict=True)),
            tuple(one[number] for one in new),
        )
        for number in range(len(before))
        if before[number] != after[number]
    ]


def nearest_to_right(found: Sequence[Change]) -> list[Change]:
    """Those whose new translations are best first; by all metrics together, and then by gain."""
    return sorted(found, key=lambda change: (-sum(change.scores), -sum(change.gains)))


def shown(change: Change, texts: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A sentence with a line for each text; `texts` are named lists of all sentences."""
    rows = [(name, lines[change.number]) for name, lines in texts]
    return f"sentence {change.number}\n{tabulate(rows, tablefmt='plain', disable_numparse=True)}"
