"""The decoders that the demo compares: the seven of the paper, three of them for BLEU as well, and
two that came after it."""

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
    model: Literal["policy", "value", "hybrid"] = "policy"
    searched_for: str = "likelihood"
    by_metric: bool = False
    """Whether the metric itself scores candidates, which no reference is needed for."""

    @property
    def stage_name(self) -> str:
        return f"decode-{self.name}"


def _by_value(
    name: str, options: tuple[str, ...], for_mlbertscore: tuple[str, ...] = FOR_MLBERTSCORE
) -> tuple[Decoder, Decoder]:
    """A decoder with a value head, for each of the two metrics that a head was trained for."""
    budget = ("--search-budget", BUDGET)
    return (
        Decoder(name, (*options, *budget, *for_mlbertscore), "value", "MLBERTScore"),
        Decoder(f"{name}-bleu", (*options, *budget, *FOR_BLEU), "hybrid", "BLEU"),
    )


VGBS, VGBS_BLEU = _by_value("vgbs", ("--search", "vgbs"))
S_RV, S_RV_BLEU = _by_value("sr-value", ("--search", "sr", "--sr-rank-by", "value"))
# not the paper's preset, which trusts the greatest value of a tree more than values deserve that
# were learned in minutes
V_MCTS, V_MCTS_BLEU = _by_value(
    "mcts-value", ("--search", "mcts"), ("--mcts-c-puct", "3", "--mcts-temperature", "1")
)
GUMBEL = Decoder(
    "mcts-gumbel",
    ("--search", "mcts", "--mcts-root", "gumbel", "--search-budget", BUDGET),
    "value",
    "MLBERTScore",
)

DECODERS = (
    Decoder("greedy", ("--beam", "1")),
    Decoder("beam", ("--beam", "5")),
    VGBS,
    S_RV,
    V_MCTS,
    GUMBEL,
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
    Decoder(
        "mbr",
        (
            *("--search", "mbr", "--search-metric", "chrf", "--search-budget", BUDGET),
            *("--search-post-process", "sentencepiece"),
        ),
        searched_for="chrF",
    ),
    VGBS_BLEU,
    S_RV_BLEU,
    V_MCTS_BLEU,
)
