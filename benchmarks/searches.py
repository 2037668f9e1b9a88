"""The searches as the paper sets them up, for the benchmarks that go through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fairseq_mcts.generators.settings import PREFETCH
from fairseq_mcts.search.options import (
    PRESETS,
    MctsOptions,
    Options,
    VgbsOptions,
    beam_for_budget,
)


@dataclass(frozen=True)
class Setup:
    """A search with its options."""

    search: str
    setting: str  # what tells it from others of the same search
    options: Options


def v_mcts_options(preset: str, simulations: int, prefetch: int = PREFETCH) -> MctsOptions:
    """As `--search mcts` sets them."""
    return MctsOptions(simulations=simulations, prefetch=prefetch, **PRESETS[preset]["mcts"])


def v_mcts(budget: int) -> Iterator[Setup]:
    """With both presets."""
    for preset in PRESETS:
        yield Setup("V-MCTS", preset, v_mcts_options(preset, budget))


def vgbs(budget: int) -> Iterator[Setup]:
    """With both presets."""
    for settings in PRESETS.values():
        beam = VgbsOptions(beam=beam_for_budget(budget), **settings["vgbs"])
        yield Setup("VGBS", f"α={beam.alpha}, beam {beam.beam}", beam)


def with_rollouts(simulations: int, metric: Any) -> MctsOptions:
    """MCTS by a metric, which is one without a reference."""
    preset = PRESETS["unprivileged"]["mcts"]
    return MctsOptions(simulations=simulations, leaf="rollout", metric=metric, **preset)
