"""The searches as the paper sets them up, for the benchmarks that go through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fairseq_mcts.search import Decoder, make_decoder

PRESETS = ("privileged", "unprivileged")


@dataclass(frozen=True)
class Setup:
    """A decoder with its options."""

    search: str  # as the paper calls it
    setting: str  # what tells it from others of the same search
    decoder: Decoder[Any]


def v_mcts_decoder(preset: str, simulations: int, **options: Any) -> Decoder[Any]:
    """As `--search mcts` sets it."""
    return make_decoder("mcts", {"simulations": simulations, **options}, preset=preset)


def v_mcts(budget: int) -> Iterator[Setup]:
    """With both presets."""
    for preset in PRESETS:
        yield Setup("V-MCTS", preset, v_mcts_decoder(preset, budget))


def vgbs(budget: int) -> Iterator[Setup]:
    """With both presets."""
    for preset in PRESETS:
        decoder = make_decoder("vgbs", preset=preset, budget=budget)
        options = decoder.options
        yield Setup("VGBS", f"α={options.alpha}, beam {options.beam}", decoder)


def with_rollouts(simulations: int) -> Decoder[Any]:
    """MCTS by a metric, which is one without a reference."""
    return v_mcts_decoder("unprivileged", simulations, leaf="rollout")
