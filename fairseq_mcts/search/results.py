"""What a search returns."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Evaluations(NamedTuple):
    """Network evaluations of one sentence."""

    charged: int
    """By the paper's accounting, as if nothing were remembered."""
    made: int
    """Prefixes that had to be evaluated; guesses that were never needed do not count."""


@dataclass(frozen=True)
class Step:
    """The search for one output token."""

    token: int  # the chosen one
    children: dict[int, tuple[int, float]]  # visited children of the root: token -> (visits, Q)


@dataclass(frozen=True)
class Hypothesis:
    """One finished sentence."""

    tokens: tuple[int, ...]
    """They end in eos."""
    logprob: float
    """The model's own: the sum of `positional_logprobs`."""
    positional_logprobs: tuple[float, ...]
    """One a token."""
    value: float | None
    """After eos, or the metric where the search goes by the metric; None: never asked for."""
    score: float
    """What the sentence's hypotheses are ranked by."""
    evaluations: Evaluations
    """Of the sentence, the same for all its hypotheses."""
    weight: float = 1.0
    """How much it counts in means over the sentence's hypotheses: as often as it was sampled, or
    without replacement its inclusion weight. Minimum Bayes risk: how much it counted as a
    reference."""
    utility: float | None = None
    """Minimum Bayes risk: the metric's mean over all references."""
    visits: tuple[int, ...] = ()
    """MCTS: of each token when it was chosen."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """With trace=True: one a token."""


@dataclass
class Timing:
    """Where the time of a decoding went, and how often the model was asked."""

    search: float = 0.0  # seconds
    network: float = 0.0
    metric: float = 0.0
    network_calls: int = 0
    network_rows: int = 0
    metric_calls: int = 0
    metric_rows: int = 0


@dataclass(frozen=True)
class Decoded:
    """What decoding some sentences gave, and what it took."""

    hypotheses: list[list[Hypothesis]]  # of each sentence, best first
    timing: Timing
    num_slots: int  # prefixes that there was room for
    num_bytes: int  # memory of the search's own arrays
