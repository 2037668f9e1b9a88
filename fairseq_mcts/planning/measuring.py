"""Measures work on batches in processes of its own, as a large corpus would be worked on."""

import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fairseq_mcts.planning.rates import BatchCost, Rates, slowdown, usual
from fairseq_mcts.progress import progress_bar
from fairseq_mcts.work import Advance, Processes, Work, Workers, make_all

Batch = TypeVar("Batch")
Measured = tuple[Sequence[BatchCost], "Memory"]
FEWEST_BATCHES = 3  # so that one during which the machine stood still is known by the others
_SILENT_SECONDS = 3.0  # what takes less shows no progress


class Turn(NamedTuple):
    """What a worker is asked for."""

    seconds: float  # to be spent
    sentences: int | None = None  # of a batch, as another has chosen them

    def __str__(self) -> str:
        return "measuring"


class Memory(NamedTuple):
    """Of a process, at its peak."""

    bytes: int
    gpu_bytes: int


@dataclass(frozen=True)
class Stopwatch(Generic[Batch]):
    """A worker that measures; see `work.Maker`."""

    batches: Callable[[Turn], Sequence[Batch]]  # every beginning of which stands for all
    cost: Callable[[Batch], BatchCost]

    def make(self, turn: Turn, advance: Advance) -> Measured:
        """Works on batches until the time is used up, on a few at least and on all at most.

        Standstills use up none of it.
        """
        begun = time.perf_counter()
        costs, told = [], 0
        for batch in self.batches(turn):
            costs.append(self.cost(batch))
            spent = time.perf_counter() - begun
            advance(int(spent) - told)
            told = int(spent)
            used = sum(cost.seconds for cost in usual(costs))
            if used > turn.seconds and len(costs) >= FEWEST_BATCHES:
                break
        return costs, _peak_memory()


def measure(work: Work[Turn, Measured], seconds: float, processes: Processes) -> Rates:
    """Lets one process work alone for a while, then all at once on the same batches."""
    together = processes.workers
    # a command that does the work begins as this one did: by imports, above all
    own_seconds = time.process_time()
    begun = time.perf_counter()
    with processes.start(work) as workers:
        while workers.idle() < together:
            workers.receive(_ignore)
        start_seconds = own_seconds + time.perf_counter() - begun
        share = seconds if together == 1 else seconds / 2
        [(costs, memory)] = _measure_all(workers, [Turn(share)], "measuring alone")
        slower = 1.0
        if together > 1:
            same = Turn(share, costs[0].sentences)
            measured = _measure_all(workers, [same] * together, f"measuring {together} at once")
            slower = slowdown(costs, [at_once for at_once, _ in measured])
    return Rates(
        costs=costs,
        together=together,
        slowdown=slower,
        start_seconds=start_seconds,
        memory_bytes=memory.bytes,
        gpu_bytes=memory.gpu_bytes,
        threads=processes.threads,
    )


def _measure_all(
    workers: Workers[Turn, Measured], turns: Sequence[Turn], title: str
) -> list[Measured]:
    """Has workers measure, and shows how many seconds have passed."""
    total = round(sum(turn.seconds for turn in turns))
    with progress_bar(title, total, unit="s", silent=_SILENT_SECONDS, leave=False) as bar:
        return [
            made
            for _, made in make_all(
                workers, turns, lambda spent: bar.update(min(spent, total - bar.n))
            )
        ]


def _ignore(rows: int) -> None:
    pass


def _peak_memory() -> Memory:
    import torch

    unit = 1 if sys.platform == "darwin" else 1024
    gpu = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return Memory(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, gpu)
