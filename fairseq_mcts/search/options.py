"""The options of every search, their defaults, the paper's presets and the common budget."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

DEFAULT_BUDGET = 50

# one number for all sentences, or one for each
Count = int | Sequence[int]
# (sentence, tokens) -> float, or with an attribute `batched = True` the same over lists of both
Metric = Callable[..., Any]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _one_of(name: str, given: str, choices: tuple[str, ...]) -> None:
    _require(given in choices, f"{name}: {given!r} is none of {', '.join(map(repr, choices))}")


def _at_least_one(name: str, given: Count) -> None:
    numbers = np.atleast_1d(np.asarray(given))
    whole = np.issubdtype(numbers.dtype, np.integer)
    _require(whole and bool((numbers >= 1).all()), f"{name}: must be a whole number ≥ 1: {given}")


def _positive(name: str, given: float) -> None:
    _require(math.isfinite(given) and given > 0, f"{name}: must be greater than 0, is {given}")


def _in_unit_interval(name: str, given: float) -> None:
    _require(0.0 <= given <= 1.0, f"{name}: must lie in [0, 1], is {given}")


@dataclass(frozen=True, kw_only=True)
class MctsOptions:
    """Value-guided MCTS; with leaf="rollout" MCTS with rollouts."""

    search: ClassVar[str] = "mcts"
    budget_option: ClassVar[str] = "simulations"

    simulations: Count = DEFAULT_BUDGET  # per output token
    actions: int = 20  # most probable tokens that a node may choose from
    c_puct: float = 3.0
    temperature: float = 1.0  # of the prior
    backup: str = "mean"
    choose: str = "visits"
    leaf: str = "value"
    terminal: str = "value"
    leaves: int = 1  # evaluated at once, with virtual losses; 1 is the algorithm of the paper
    # calls of the evaluator with fewer prefixes also get some that will probably be wanted next:
    # changes no result, only the number of calls. Not for rollouts
    prefetch: int = 0
    metric: Metric | None = None  # used by leaf="rollout" and terminal="metric"

    def __post_init__(self) -> None:
        _at_least_one("simulations", self.simulations)
        _at_least_one("actions", self.actions)
        _at_least_one("leaves", self.leaves)
        _require(self.prefetch >= 0, f"prefetch: must be 0 (never) or more, is {self.prefetch}")
        _require(
            self.prefetch == 0 or self.leaf != "rollout",
            "prefetch: has no effect with leaf='rollout'",
        )
        _require(
            math.isfinite(self.c_puct) and self.c_puct >= 0,
            f"c_puct: must be ≥ 0, is {self.c_puct}",
        )
        _positive("temperature", self.temperature)
        _one_of("backup", self.backup, ("mean", "max"))
        _one_of("choose", self.choose, ("visits", "value"))
        _one_of("leaf", self.leaf, ("value", "rollout"))
        _one_of("terminal", self.terminal, ("value", "metric"))
        if self.metric is None:
            _require(self.leaf != "rollout", "leaf='rollout' needs a metric")
            _require(self.terminal != "metric", "terminal='metric' needs a metric")


@dataclass(frozen=True, kw_only=True)
class VgbsOptions:
    """Value-guided beam search. α is the weight of the VALUE, as in the paper's tables."""

    search: ClassVar[str] = "vgbs"
    budget_option: ClassVar[str] = "beam"

    beam: Count = 7  # the smallest k with k + k² ≥ DEFAULT_BUDGET
    alpha: float = 0.5
    temperature: float = 1.0
    value_scale: str = "plain"
    value_bounds: tuple[float, float] = (1e-6, 1.0)  # values are clipped to it before their log
    # No value of the model is greater. It changes no result, but the less it is the fewer
    # evaluations are made.
    highest_value: float = math.inf

    def __post_init__(self) -> None:
        _at_least_one("beam", self.beam)
        _in_unit_interval("alpha", self.alpha)
        _positive("temperature", self.temperature)
        _one_of("value_scale", self.value_scale, ("plain", "log"))
        _require(
            len(self.value_bounds) == 2 and 0 < self.value_bounds[0] < self.value_bounds[1],
            f"value_bounds: must be (low, high) with 0 < low < high, is {self.value_bounds}",
        )
        _require(not math.isnan(self.highest_value), "highest_value: must be a number, is nan")


@dataclass(frozen=True, kw_only=True)
class BeamOptions:
    """Beam search by likelihood."""

    search: ClassVar[str] = "beam"
    budget_option: ClassVar[str] = "beam"

    beam: Count = 5
    length_penalty: float = 1.0
    normalization: str = "length"

    def __post_init__(self) -> None:
        _at_least_one("beam", self.beam)
        _require(
            math.isfinite(self.length_penalty),
            f"length_penalty: must be a number, is {self.length_penalty}",
        )
        _one_of("normalization", self.normalization, ("length", "gnmt", "none"))


@dataclass(frozen=True, kw_only=True)
class SrOptions:
    """Sampling and reranking, by the value (S+RV) or by a metric (S+R).

    With rank_by="none" all samples are results, in the order drawn and with their repetitions:
    what training data are made of.
    """

    search: ClassVar[str] = "sr"
    budget_option: ClassVar[str] = "samples"

    samples: Count = DEFAULT_BUDGET
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    epsilon: float = 0.0
    rank_by: str = "value"
    metric: Metric | None = None  # used by rank_by="metric"

    def __post_init__(self) -> None:
        _at_least_one("samples", self.samples)
        _positive("temperature", self.temperature)
        _require(self.top_k >= 0, f"top_k: must be 0 (off) or more, is {self.top_k}")
        _require(0.0 < self.top_p <= 1.0, f"top_p: must lie in (0, 1], is {self.top_p}")
        _require(0.0 <= self.epsilon < 1.0, f"epsilon: must lie in [0, 1), is {self.epsilon}")
        _one_of("rank_by", self.rank_by, ("value", "metric", "none"))
        _require(
            self.rank_by != "metric" or self.metric is not None, "rank_by='metric' needs a metric"
        )


Options = MctsOptions | VgbsOptions | BeamOptions | SrOptions

OPTIONS: dict[str, type[Options]] = {
    kind.search: kind for kind in (MctsOptions, VgbsOptions, BeamOptions, SrOptions)
}

# the paper's settings per kind of metric; beam search knows no metric, so it has none
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "privileged": {
        "mcts": {"temperature": 0.9, "c_puct": 3.0, "backup": "mean", "choose": "visits"},
        "vgbs": {"alpha": 0.5},
        "sr": {"temperature": 0.25},
        "beam": {},
    },
    "unprivileged": {
        "mcts": {"temperature": 1.1, "c_puct": 8.0, "backup": "max", "choose": "value"},
        "vgbs": {"alpha": 0.9},
        "sr": {"temperature": 0.75},
        "beam": {},
    },
}


def beam_for_budget(budget: int) -> int:
    """The smallest k with k + k² ≥ budget: what the paper lets a value-guided beam cost."""
    _require(budget >= 1, f"budget: must be at least 1, is {budget}")
    beam = max(1, math.isqrt(budget) - 1)
    while beam + beam * beam < budget:
        beam += 1
    return beam


def _budget_as_option(search: str, budget: Count) -> dict[str, Any]:
    _at_least_one("budget", budget)
    option = OPTIONS[search].budget_option
    if search != "vgbs":
        return {option: budget}
    if isinstance(budget, (int, np.integer)):
        return {option: beam_for_budget(int(budget))}
    return {option: [beam_for_budget(int(one)) for one in budget]}


def make_options(
    search: str,
    given: dict[str, Any],
    *,
    preset: str | None = None,
    budget: Count | None = None,
) -> Options:
    """Options of `search`: what is given beats the budget, which beats the preset."""
    if search not in OPTIONS:
        raise ValueError(f"search: {search!r} is none of {', '.join(map(repr, OPTIONS))}")
    kind = OPTIONS[search]
    names = {field.name for field in dataclasses.fields(kind)}
    for name in given:
        if name not in names:
            raise TypeError(
                f"search={search!r} has no option {name!r}; it has {', '.join(sorted(names))}"
            )
    settings: dict[str, Any] = {}
    if preset is not None:
        _one_of("preset", preset, tuple(PRESETS))
        settings.update(PRESETS[preset][search])
    if budget is not None:
        settings.update(_budget_as_option(search, budget))
    settings.update(given)
    return kind(**settings)
