"""What the Gumbel root adds to V-MCTS's time: `--mcts-root gumbel` / `puct`.

    python benchmarks/gumbel_root.py [--size small|base] [--json FILE]
    python benchmarks/gumbel_root.py --path dual_head.pt --data data-bin

The two are different searches: they evaluate other prefixes and end in other translations. Where
pUCT goes again and again to first tokens whose subtrees are known from the output tokens before,
sequential halving visits many others, so more evaluations have to be made for the same charge.
Three figures, each of V-MCTS's time with pUCT:

- "rule": what the rule itself adds when both do equal work: select and backup on the table of
  `tree_cost.py`, where every simulation of either opens a new node;
- "walks": what its walks add in this decoding, to the same time per charged evaluation; other trees
  are other walks;
- "whole": the ratio of the whole times.

The same for the noise and for `--mcts-below-root improved`. Only the rule at the root has a bar.
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
from tree_cost import Model, timed_walk, walk_seconds

BAR = 1.02
ACTIONS = 20
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


def equal_work(options: argparse.Namespace) -> dict[str, float]:
    """Microseconds a simulation of each rule's walks where all open as many nodes; medians."""
    clock = common.CLOCKS[options.clock]
    model, batch = Model.random(ACTIONS), 32
    times: dict[str, list[float]] = {name: [] for name in RULES}
    for _ in range(5 * options.repeats):
        for name, rules in RULES.items():
            seconds = walk_seconds(model, batch, options.simulations, ACTIONS, clock, **rules)
            times[name].append(1e6 * seconds / (batch * options.simulations))
    return {name: statistics.median(several) for name, several in times.items()}


def measure(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    case = vmcts.make_case(options, preset)
    sides = {name: Side(case, options, preset, **rules) for name, rules in RULES.items()}
    seconds = common.alternate({name: side.run for name, side in sides.items()}, options)
    alike = equal_work(options)
    puct = sides["pUCT"]
    all_of_puct = 1e6 * seconds["pUCT"] / puct.charged  # a charged evaluation
    walk_of_puct = 1e6 * puct.walk / puct.charged
    for name, side in sides.items():
        if side is puct:
            continue
        walk = 1e6 * side.walk / side.charged
        compared = f"V-MCTS ({preset}), {name} / pUCT"
        yield common.Comparison(
            f"{compared}: rule",
            1 + (alike[name] - alike["pUCT"]) / all_of_puct,
            common.at_most(BAR if name == "Gumbel root" else None),
            {"walk µs": alike[name], "of pUCT µs": alike["pUCT"], "all of pUCT µs": all_of_puct},
        )
        yield common.Comparison(
            f"{compared}: walks",
            1 + (walk - walk_of_puct) / all_of_puct,
            None,
            {"walk µs": walk, "of pUCT µs": walk_of_puct, "all of pUCT µs": all_of_puct},
        )
        yield common.Comparison(
            f"{compared}: whole",
            seconds[name] / seconds["pUCT"],
            None,
            {
                "made / charged": side.made / side.charged,
                "of pUCT": puct.made / puct.charged,
            },
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    return vmcts.report_presets("gumbel_root", __doc__, measure, arguments)


if __name__ == "__main__":
    main()
