"""What V-MCTS costs in greedy decodings by fairseq: same network, same sentences.

    python benchmarks/against_greedy.py [--size small|base] [--json FILE]

By count of network evaluations 50 simulations would be 51 greedy decodings.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import common
import networks

from fairseq_mcts.search.options import PRESETS, MctsOptions

BARS = {"small": 8.0, "base": 12.0}


def measure(options: argparse.Namespace, preset: str) -> common.Comparison:
    model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
    sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    sample = networks.make_sample(model, sources)
    greedy = networks.fairseq_generator(model, beam=1)
    search = MctsOptions(simulations=options.simulations, **PRESETS[preset]["mcts"])
    mcts = networks.search_generator(model, search, uses_value=True)
    seconds = common.alternate(
        {
            "greedy": lambda: greedy.generate([model], sample),
            "mcts": lambda: mcts.generate([model], sample),
        },
        options,
    )
    counted = mcts.statistics
    return common.Comparison(
        f"V-MCTS ({preset}, {options.simulations} simulations) / fairseq's greedy",
        seconds["mcts"] / seconds["greedy"],
        common.at_most(BARS.get(options.size)),
        {
            **{f"{name} s": value for name, value in seconds.items()},
            "made / charged": counted.made / counted.charged,
        },
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--simulations", type=int, default=50)
    options = common.parse(parser, arguments)
    report = common.Report("against greedy", options, networks.settings())
    for preset in ("privileged", "unprivileged"):
        report.add(measure(options, preset))
    report.write()
    return report


if __name__ == "__main__":
    main()
