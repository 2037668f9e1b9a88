"""How much faster is V-MCTS here than written the way the paper's listing does, same outputs?

    python benchmarks/against_listing.py [--size small|base] [--json FILE]

`listing.py` says what that way is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import common
import networks
import vmcts
from listing import decode_by_listing

BAR = 5.0


def measure(options: argparse.Namespace, preset: str) -> common.Comparison:
    case = vmcts.make_case(options, preset)
    lengths = {"min_len": networks.MIN_LENGTH, "max_len": networks.MAX_LENGTH}
    found: dict[str, list[tuple[int, ...]]] = {}
    rows: dict[str, int] = {}

    def by_listing() -> None:
        found["listing"], rows["listing"] = decode_by_listing(
            case.model, case.sources, case.search, **lengths
        )

    def here() -> None:
        results = case.generator.generate([case.model], case.sample)
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
    # the listing takes its time: one measured turn
    return vmcts.report_presets("against the listing", __doc__, measure, arguments, repeats=1)


if __name__ == "__main__":
    main()
