"""What V-MCTS costs in greedy decodings by fairseq: same network, same sentences.

    python benchmarks/against_greedy.py [--size small|base] [--json FILE]
    python benchmarks/against_greedy.py --path dual_head.pt --data data-bin [--size small|base]

By count of network evaluations 50 simulations would be 51 greedy decodings. With --path it is a
trained model on real sentences, and --size only says which bar holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import common
import dual_heads
import networks
import vmcts

BARS = {"small": 8.0, "base": 12.0}


def measure(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    case = vmcts.make_case(options, preset)
    model, sample, mcts = case.model, case.sample, case.generator
    greedy = networks.fairseq_generator(model, beam=1, lengths=dual_heads.limits(options))
    seconds = common.alternate(
        {
            "greedy": lambda: greedy.generate([model], sample),
            "mcts": lambda: mcts.generate([model], sample),
        },
        options,
    )
    counted = mcts.statistics
    yield common.Comparison(
        f"V-MCTS ({preset}, {options.simulations} simulations) / fairseq's greedy",
        seconds["mcts"] / seconds["greedy"],
        common.at_most(BARS.get(options.size)),
        {
            **{f"{name} s": value for name, value in seconds.items()},
            "made / charged": counted.made / counted.charged,
        },
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    return vmcts.report_presets("against greedy", __doc__, measure, arguments)


if __name__ == "__main__":
    main()
