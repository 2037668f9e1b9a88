"""What was measured, and what follows from it: pure functions."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

# So many times as long as most, for its tokens, is no work of a batch's own: lengths and texts make
# a difference of two or three.
_UNUSUAL = 5.0


class BatchCost(NamedTuple):
    """A batch that was relabelled, or sentences of a chunk that were decoded."""

    sentences: int  # sources
    seconds: float
    source_tokens: int
    rows: int  # translations that were made of them
    tokens: int  # of those, eos counted
    evaluations: dict[str, int]  # charged by the paper's accounting, and made; empty: not counted
    disk: dict[str, int]  # bytes, by what is written

    @property
    def seconds_per_token(self) -> float:
        """Of sources and translations."""
        return self.seconds / (self.source_tokens + self.tokens)


def usual(costs: Sequence[BatchCost]) -> list[BatchCost]:
    """Without those that took many times as long as most.

    The clock on the wall goes on while a process is stopped or the machine stands still. One such
    batch of a few would decide about the time of all sentences.
    """
    most = statistics.median_low(cost.seconds_per_token for cost in costs)
    return [cost for cost in costs if cost.seconds_per_token <= _UNUSUAL * most]


def slowdown(alone: Sequence[BatchCost], at_once: Iterable[Sequence[BatchCost]]) -> float:
    """Seconds of processes that work at once over those of one alone, on the same batches.

    The median: a standstill, then or now, concerns some batches of each process.
    """
    ratios = [
        with_others.seconds / by_itself.seconds
        for costs in at_once
        for by_itself, with_others in zip(alone, costs, strict=False)  # not all may have been done
    ]
    return max(statistics.median(ratios), 1.0)  # company makes nobody faster: less is chance


@dataclass(frozen=True)
class Rates:
    """Of checkpoints, and what is done with them, on this machine."""

    costs: Sequence[BatchCost]  # of one process alone
    together: int  # so many processes were tried at once
    slowdown: float  # of each of them, against one alone
    start_seconds: float  # until the processes of a command begin to work
    memory_bytes: int  # of one process, at its peak
    gpu_bytes: int
    threads: int  # of each process

    @cached_property
    def usual(self) -> Sequence[BatchCost]:
        """The batches that count."""
        return usual(self.costs)

    def per_sentence(self, name: str) -> float:
        """The mean of a field of `BatchCost` over the sentences that count."""
        return self._mean(getattr(cost, name) for cost in self.usual)

    def evaluations(self) -> dict[str, float]:
        """Of a sentence, by their names."""
        names = self.costs[0].evaluations
        return {name: self._mean(cost.evaluations[name] for cost in self.usual) for name in names}

    def disk(self) -> dict[str, float]:
        """Bytes of a sentence, by what is written."""
        names = self.costs[0].disk
        return {name: self._mean(cost.disk[name] for cost in self.usual) for name in names}

    def _mean(self, figures: Iterable[float]) -> float:
        return sum(figures) / sum(cost.sentences for cost in self.usual)

    def relative_error(self) -> float:
        """The standard error of the seconds per sentence, as a share of them.

        Batches of all lengths were taken evenly, so only what sets a batch apart from those next to
        it in length is chance: the estimator by successive differences of systematic samples.
        """
        count = len(self.usual)
        if count < 2:
            return math.nan
        mean = self.per_sentence("seconds")
        by_length = sorted(self.usual, key=lambda cost: cost.source_tokens / cost.sentences)
        off = [cost.seconds - mean * cost.sentences for cost in by_length]
        squares = sum((one - other) ** 2 for one, other in pairwise(off))
        size = sum(cost.sentences for cost in self.usual) / count
        return math.sqrt(squares / (2 * (count - 1)) / count) / (mean * size)


class Projection(NamedTuple):
    """What a corpus takes with so many workers."""

    sentences: int
    workers: int
    machines: int
    seconds: float  # on the clock
    low: float  # two standard errors below …
    high: float  # … and above
    memory_bytes: int  # of each machine
    gpu_bytes: int  # of each worker
    disk: dict[str, float]  # bytes, by what is written
    evaluations: dict[str, float]


def project(rates: Rates, sentences: int, workers: int) -> Projection:
    """Workers up to those tried at once share this machine; more run on machines like it.

    Between one worker and those that were tried, the slowdown grows evenly.
    """
    here = min(workers, rates.together)
    share = (here - 1) / max(rates.together - 1, 1)
    slowdown = 1 + (rates.slowdown - 1) * share
    working = sentences * rates.per_sentence("seconds") * slowdown / workers
    error = rates.relative_error()
    margin = 0.0 if math.isnan(error) else 2 * error
    return Projection(
        sentences=sentences,
        workers=workers,
        machines=math.ceil(workers / rates.together),
        seconds=rates.start_seconds + working,
        low=rates.start_seconds + working * max(1 - margin, 0),
        high=rates.start_seconds + working * (1 + margin),
        memory_bytes=rates.memory_bytes * here,
        gpu_bytes=rates.gpu_bytes,
        disk={name: sentences * size for name, size in rates.disk().items()},
        evaluations={name: sentences * count for name, count in rates.evaluations().items()},
    )
