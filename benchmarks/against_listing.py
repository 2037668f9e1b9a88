"""How much faster is V-MCTS here than written the way the paper's listing does, same outputs?

    python benchmarks/against_listing.py [--size small|base] [--json FILE]

`listing.py` says what that way is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import common
import networks
from listing import decode_by_listing

from fairseq_mcts.search.options import PRESETS, MctsOptions

BAR = 5.0


def measure(options: argparse.Namespace, preset: str) -> common.Comparison:
    model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
    sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    sample = networks.make_sample(model, sources)
    search = MctsOptions(simulations=options.simulations, **PRESETS[preset]["mcts"])
    generator = networks.search_generator(model, search, uses_value=True)
    lengths = {"min_len": networks.MIN_LENGTH, "max_len": networks.MAX_LENGTH}
    found: dict[str, list[tuple[int, ...]]] = {}
    rows: dict[str, int] = {}

    def by_listing() -> None:
        found["listing"], rows["listing"] = decode_by_listing(model, sources, search, **lengths)

    def here() -> None:
        results = generator.generate([model], sample)
        found["here"] = networks.best_tokens(results)
        rows["here"] = sum(one[0]["evaluations"].made for one in results)

    seconds = common.alternate({"listing": by_listing, "here": here}, options)
    return common.Comparison(
        f"V-MCTS ({preset}) by the listing / here",
        seconds["listing"] / seconds["here"],
        common.at_least(BAR),
        {
            **{f"{name} s": value for name, value in seconds.items()},
            **{f"rows {name}": count for name, count in rows.items()},
        },
        outputs_equal=found["listing"] == found["here"],
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--simulations", type=int, default=50)
    parser.set_defaults(repeats=1)  # the listing takes its time
    options = common.parse(parser, arguments)
    report = common.Report("against the listing", options, networks.settings())
    for preset in ("privileged", "unprivileged"):
        report.add(measure(options, preset))
    report.write()
    return report


if __name__ == "__main__":
    main()
