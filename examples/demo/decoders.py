"""The decoders that the demo compares: the seven of the paper, three of them for BLEU as well."""

from dataclasses import dataclass
from typing import Literal

# Evaluations per output token by the paper's accounting; the paper has 50.
BUDGET = "16"
ROLLOUT_BUDGET = "8"

FOR_MLBERTSCORE = ("--search-preset", "unprivileged")
FOR_BLEU = ("--search-preset", "privileged")


@dataclass(frozen=True)
class Decoder:
    """One way to decode: its name in the results, its model and the options that select it."""

    name: str
    options: tuple[str, ...]
    model: Literal["policy", "dual-head", "hybrid"] = "policy"
    searched_for: str = "likelihood"
    by_metric: bool = False
    """Whether the metric itself scores candidates, which no reference is needed for."""

    @property
    def stage_name(self) -> str:
        return f"decode-{self.name}"


def _by_value(name: str, options: tuple[str, ...]) -> tuple[Decoder, Decoder]:
    """A decoder with a value head, for each of the two metrics that a head was trained for."""
    budget = ("--search-budget", BUDGET)
    return (
        Decoder(name, (*options, *budget, *FOR_MLBERTSCORE), "dual-head", "MLBERTScore"),
        Decoder(f"{name}-bleu", (*options, *budget, *FOR_BLEU), "hybrid", "BLEU"),
    )


VGBS, VGBS_BLEU = _by_value("vgbs", ("--search", "vgbs"))
S_RV, S_RV_BLEU = _by_value("sr-value", ("--search", "sr", "--sr-rank-by", "value"))
V_MCTS, V_MCTS_BLEU = _by_value("mcts-value", ("--search", "mcts"))

DECODERS = (
    Decoder("greedy", ("--beam", "1")),
    Decoder("beam", ("--beam", "5")),
    VGBS,
    S_RV,
    V_MCTS,
    Decoder(
        "sr-metric",
        (
            *("--search", "sr", "--sr-rank-by", "metric"),
            *("--search-budget", BUDGET, *FOR_MLBERTSCORE),
        ),
        searched_for="MLBERTScore",
        by_metric=True,
    ),
    Decoder(
        "mcts-rollout",
        (
            *("--search", "mcts", "--mcts-leaf", "rollout"),
            *("--search-budget", ROLLOUT_BUDGET, *FOR_MLBERTSCORE),
        ),
        searched_for="MLBERTScore",
        by_metric=True,
    ),
    VGBS_BLEU,
    S_RV_BLEU,
    V_MCTS_BLEU,
)
