"""The decoders that the demo compares: the seven of the paper and two that came after it.

More take part if they are asked for: `EXTRA`.
"""

from dataclasses import dataclass
from typing import Literal

# Evaluations per output token by the paper's accounting; the paper has 50.
BUDGET = "16"
ROLLOUT_BUDGET = "8"
MBR_BUDGET = "32"

FOR_MLBERTSCORE = ("--search-preset", "unprivileged")


@dataclass(frozen=True)
class Decoder:
    """One way to decode: its name in the results, its model and the options that select it."""

    name: str
    options: tuple[str, ...]
    model: Literal["policy", "value"] = "policy"
    searched_for: str = "likelihood"
    by_metric: bool = False
    """Whether the metric itself scores candidates, which no reference is needed for."""
    metric_share: float = 1.0
    """The metric's weight in what scores candidates; the policy's likelihood has the rest."""
    tuned: tuple[str, ...] = ()
    """Options that are tuned on validation sentences, with their values, as --sweep takes them."""

    @property
    def stage_name(self) -> str:
        return f"decode-{self.name}"


def _by_value(name: str, options: tuple[str, ...], *tuned: str) -> Decoder:
    """A decoder that goes by the value of MLBERTScore."""
    budget = ("--search-budget", BUDGET)
    return Decoder(name, (*options, *budget), "value", "MLBERTScore", tuned=tuned)


def _by_samples(name: str, *options: str, metric_share: float = 1.0) -> Decoder:
    """A decoder that ranks samples by MLBERTScore itself, or by a mix with it."""
    search = ("--search", "sr", "--sr-rank-by", "metric", *options)
    budget = ("--search-budget", BUDGET, *FOR_MLBERTSCORE)
    return Decoder(
        name,
        (*search, *budget),
        searched_for="MLBERTScore",
        by_metric=True,
        metric_share=metric_share,
    )


BEAM = Decoder("beam", ("--beam", "5"))
V_MCTS = _by_value(
    "mcts-value", ("--search", "mcts"), "mcts-c-puct=1,2,4", "mcts-backup=mean,max,bellman"
)

DECODERS = (
    Decoder("greedy", ("--beam", "1")),
    BEAM,
    _by_value("vgbs", ("--search", "vgbs"), "vgbs-alpha=0.5,0.7,0.8,0.9"),
    _by_value(
        "sr-value", ("--search", "sr", "--sr-rank-by", "value"), "sr-temperature=0.2,0.3,0.4"
    ),
    V_MCTS,
    _by_value(
        "mcts-gumbel",
        ("--search", "mcts", "--mcts-root", "gumbel"),
        "mcts-c-scale=0.05,0.1,0.2",
    ),
    _by_samples("sr-metric"),
    Decoder(
        "mcts-rollout",
        (
            *("--search", "mcts", "--mcts-leaf", "rollout"),
            *("--search-budget", ROLLOUT_BUDGET, *FOR_MLBERTSCORE),
        ),
        searched_for="MLBERTScore",
        by_metric=True,
    ),
    Decoder(
        "mbr",
        (
            *("--search", "mbr", "--search-metric", "chrf", "--search-budget", MBR_BUDGET),
            *("--search-post-process", "sentencepiece"),
        ),
        searched_for="chrF",
        tuned=("mbr-temperature=0.5,0.75,1",),
    ),
)

#: left out unless they are asked for: the demo is to stay within ten minutes
EXTRA = (
    _by_samples("sr-distinct", "--sr-without-replacement"),
    _by_samples("sr-mix", metric_share=0.7),
)
