"""What guessing the next prefixes saves V-MCTS: without / with `--mcts-prefetch`, same outputs.

    python benchmarks/prefetch.py [--size small|base] [--json FILE]
    python benchmarks/prefetch.py --path dual_head.pt --data data-bin

One sentence after the other, as a user who waits for one translation sees it, and all of them at
once, where guesses help when most sentences are finished.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import common
import dual_heads
import networks
import vmcts
from searches import v_mcts_decoder

Translations = list[tuple[list[int], float, list[int]]]  # tokens, value and visits of each


def measure(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    case = vmcts.make_case(options, preset)
    one_by_one = [networks.make_sample(case.model, [source]) for source in case.sources]
    for how, samples in (("one by one", one_by_one), ("at once", [case.sample])):
        sides = {
            name: Side(case.model, samples, options, preset, **given)
            for name, given in (("without", {"prefetch": 0}), ("with", {}))
        }
        seconds = common.alternate({name: side.run for name, side in sides.items()}, options)
        found = {name: side.run() for name, side in sides.items()}
        rows = {name: side.timing.network_rows for name, side in sides.items()}
        calls = {name: side.timing.network_calls for name, side in sides.items()}
        yield common.Comparison(
            f"V-MCTS ({preset}), {len(case.sources)} sentences {how}: without / with guesses",
            seconds["without"] / seconds["with"],
            None,
            {
                **{f"{name} s": value for name, value in seconds.items()},
                "calls with / without": calls["with"] / calls["without"],
                "rows with / without": rows["with"] / rows["without"],
            },
            outputs_equal=found["without"] == found["with"],
        )


class Side:
    """V-MCTS with some number of guesses."""

    def __init__(
        self,
        model: Any,
        samples: Sequence[dict[str, Any]],
        options: argparse.Namespace,
        preset: str,
        **given: Any,
    ) -> None:
        decoder = v_mcts_decoder(preset, options.simulations, **given)
        lengths = dual_heads.limits(options)
        self._generator = networks.search_generator(model, decoder, lengths)
        self._model = model
        self._samples = samples

    def run(self) -> Translations:
        found = [
            hypotheses[0]
            for sample in self._samples
            for hypotheses in self._generator.generate([self._model], sample)
        ]
        return [(one["tokens"].tolist(), one["value"], one["visits"]) for one in found]

    @property
    def timing(self) -> Any:
        """Of all runs so far; both sides have as many."""
        return self._generator.statistics.timing


def main(arguments: Sequence[str] | None = None) -> common.Report:
    return vmcts.report_presets("prefetch", __doc__, measure, arguments)


if __name__ == "__main__":
    main()
