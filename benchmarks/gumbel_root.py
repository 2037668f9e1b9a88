"""What the Gumbel root adds to V-MCTS's time: `--mcts-root gumbel` / `puct`.

    python benchmarks/gumbel_root.py [--size small|base] [--json FILE]
    python benchmarks/gumbel_root.py --path dual_head.pt --data data-bin

The two are different searches: they evaluate other prefixes and end in other translations, so the
ratio of their whole times is about luck too. It is stated as "whole". The figure is what the rule
itself costs: the time of V-MCTS with pUCT per charged evaluation, once with its own tree walk (the
compiled select and backup) and once with that of the Gumbel root.

The same for `--mcts-below-root improved` beside it, which has no bar.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import common
import dual_heads
import networks
import vmcts
from searches import v_mcts_decoder
from tree_cost import timed_walk

BAR = 1.02
GUMBEL = {"root": "gumbel"}
RULES: dict[str, dict[str, Any]] = {
    "pUCT": {},
    "Gumbel root": GUMBEL,
    "Gumbel root with noise": {**GUMBEL, "gumbel_scale": 1.0},
    "Gumbel root, improved below": {**GUMBEL, "below_root": "improved"},
}


class Side:
    """V-MCTS with some rules of selection; knows how long its tree walks took."""

    def __init__(
        self, case: vmcts.Case, options: argparse.Namespace, preset: str, **rules: Any
    ) -> None:
        decoder = v_mcts_decoder(preset, options.simulations, **rules)
        lengths = dual_heads.limits(options)
        self._generator = networks.search_generator(case.model, decoder, lengths)
        self._case = case
        self._clock = common.CLOCKS[options.clock]
        self._walks: list[float] = []  # seconds of each run

    def run(self) -> None:
        with timed_walk(self._clock) as durations:
            self._generator.generate([self._case.model], self._case.sample)
        self._walks.append(sum(durations))

    @property
    def charged(self) -> float:
        """Evaluations of one run; all are alike."""
        return float(self._generator.statistics.charged / len(self._walks))

    @property
    def made(self) -> float:
        """The same of those that had to be made."""
        return float(self._generator.statistics.made / len(self._walks))

    @property
    def walk(self) -> float:
        """Median seconds, but for the first run, which may compile."""
        return statistics.median(self._walks[1:])


def measure(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    case = vmcts.make_case(options, preset)
    sides = {name: Side(case, options, preset, **rules) for name, rules in RULES.items()}
    seconds = common.alternate({name: side.run for name, side in sides.items()}, options)
    puct = sides["pUCT"]
    whole = seconds["pUCT"] / puct.charged  # seconds a charged evaluation
    for name, side in sides.items():
        if side is puct:
            continue
        added = side.walk / side.charged - puct.walk / puct.charged
        yield common.Comparison(
            f"V-MCTS ({preset}), {name} / pUCT",
            1 + added / whole,
            common.at_most(BAR if side is sides["Gumbel root"] else None),
            {
                "whole": seconds[name] / seconds["pUCT"],
                "walk µs": 1e6 * side.walk / side.charged,
                "walk of pUCT µs": 1e6 * puct.walk / puct.charged,
                "all of pUCT µs": 1e6 * whole,
                "made / charged": side.made / side.charged,
                "made / charged of pUCT": puct.made / puct.charged,
            },
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    return vmcts.report_presets("gumbel_root", __doc__, measure, arguments)


if __name__ == "__main__":
    main()
