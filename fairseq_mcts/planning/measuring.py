"""Measures work on batches in processes of its own, as a large corpus would be worked on."""

import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fairseq_mcts.planning.rates import BatchCost, Rates
from fairseq_mcts.progress import progress_bar
from fairseq_mcts.work import Advance, Processes, Work, Workers, make_all

Batch = TypeVar("Batch")
Measured = tuple[Sequence[BatchCost], "Memory"]
_SILENT_SECONDS = 3.0  # what takes less shows no progress


class Memory(NamedTuple):
    """Of a process, at its peak."""

    bytes: int
    gpu_bytes: int


@dataclass(frozen=True)
class Stopwatch(Generic[Batch]):
    """A worker that measures; see `work.Maker`."""

    batches: Sequence[Batch]  # every beginning of which stands for all
    cost: Callable[[Batch], BatchCost]

    def make(self, seconds: float, advance: Advance) -> Measured:
        """Works on batches until the time is over, one at least and all at most."""
        begun = time.perf_counter()
        costs, told = [], 0
        for batch in self.batches:
            costs.append(self.cost(batch))
            spent = time.perf_counter() - begun
            advance(int(spent) - told)
            told = int(spent)
            if spent > seconds:
                break
        return costs, _peak_memory()


def measure(work: Work[float, Measured], seconds: float, processes: Processes) -> Rates:
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
        [(costs, memory)] = _measure_all(workers, [share], "measuring alone")
        slowdown = 1.0
        if together > 1:
            title = f"measuring {together} at once"
            at_once = [made[0] for made in _measure_all(workers, [share] * together, title)]
            # company makes nobody faster: less is chance
            slowdown = max(_slowdown(costs, at_once), 1.0)
    return Rates(
        costs=costs,
        together=together,
        slowdown=slowdown,
        start_seconds=start_seconds,
        memory_bytes=memory.bytes,
        gpu_bytes=memory.gpu_bytes,
        threads=processes.threads,
    )


def _measure_all(
    workers: Workers[float, Measured], seconds: Sequence[float], title: str
) -> list[Measured]:
    """Has workers measure for so many seconds each, and shows how many have passed."""
    total = round(sum(seconds))
    with progress_bar(title, total, unit="s", silent=_SILENT_SECONDS, leave=False) as bar:
        return [
            made
            for _, made in make_all(
                workers, seconds, lambda spent: bar.update(min(spent, total - bar.n))
            )
        ]


def _ignore(rows: int) -> None:
    pass


def _slowdown(alone: Sequence[BatchCost], at_once: Sequence[Sequence[BatchCost]]) -> float:
    """Seconds of processes that work at once over those of one alone, on the same batches."""
    together = expected = 0.0
    for costs in at_once:
        both = min(len(costs), len(alone))
        together += sum(cost.seconds for cost in costs[:both])
        expected += sum(cost.seconds for cost in alone[:both])
    return together / expected


def _peak_memory() -> Memory:
    import torch

    unit = 1 if sys.platform == "darwin" else 1024
    gpu = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return Memory(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, gpu)
