"""What was measured, and what follows from it: pure functions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class BatchCost(NamedTuple):
    """A batch that was decoded."""

    sentences: int
    seconds: float
    tokens: int  # of the best hypotheses, eos counted
    source_tokens: int
    charged: int  # network evaluations by the paper's accounting
    made: int  # those that had to be made
    line_bytes: int  # of the lines of fairseq-generate
    text_bytes: int  # of the translations alone


@dataclass(frozen=True)
class Rates:
    """Of a checkpoint and a decoder on this machine."""

    costs: Sequence[BatchCost]  # of one process alone
    together: int  # so many processes were tried at once
    slowdown: float  # of each of them, against one alone
    start_seconds: float  # until a process begins to decode
    memory_bytes: int  # of one process, at its peak
    gpu_bytes: int
    threads: int  # of each process

    def per_sentence(self, name: str) -> float:
        """The mean of a field of `BatchCost` over the sentences that were decoded."""
        total = sum(getattr(cost, name) for cost in self.costs)
        return total / sum(cost.sentences for cost in self.costs)

    def relative_error(self) -> float:
        """The standard error of the seconds per sentence, as a share of them.

        Batches of all lengths were taken evenly, so only what sets a batch apart from those next to
        it in length is chance: the estimator by successive differences of systematic samples.
        """
        count = len(self.costs)
        if count < 2:
            return math.nan
        mean = self.per_sentence("seconds")
        by_length = sorted(self.costs, key=lambda cost: cost.source_tokens / cost.sentences)
        off = [cost.seconds - mean * cost.sentences for cost in by_length]
        squares = sum((one - other) ** 2 for one, other in pairwise(off))
        size = sum(cost.sentences for cost in self.costs) / count
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
    line_bytes: float
    text_bytes: float
    charged: float
    made: float


def project(rates: Rates, sentences: int, workers: int) -> Projection:
    """Workers up to those tried at once share this machine; more run on machines like it.

    Between one worker and those that were tried, the slowdown grows evenly.
    """
    here = min(workers, rates.together)
    share = (here - 1) / max(rates.together - 1, 1)
    slowdown = 1 + (rates.slowdown - 1) * share
    decoding = sentences * rates.per_sentence("seconds") * slowdown / workers
    error = rates.relative_error()
    margin = 0.0 if math.isnan(error) else 2 * error
    return Projection(
        sentences=sentences,
        workers=workers,
        machines=math.ceil(workers / rates.together),
        seconds=rates.start_seconds + decoding,
        low=rates.start_seconds + decoding * max(1 - margin, 0),
        high=rates.start_seconds + decoding * (1 + margin),
        memory_bytes=rates.memory_bytes * here,
        gpu_bytes=rates.gpu_bytes,
        **{
            name: sentences * rates.per_sentence(name)
            for name in ("line_bytes", "text_bytes", "charged", "made")
        },
    )
