"""How much faster are the searches here than written the way the paper's listing does?

    python benchmarks/against_listing.py [--size small|base] [--only NAME …] [--json FILE]

Same network, same sentences, same rules, and every sentence's tokens must be equal. What that way
is, say `listing_mcts.py` (the paper's listing, V-MCTS and MCTS with rollouts), `listing_beam.py`
and `listing_sampling.py`, of which there are no listings: batched, in lock-step, on fairseq's
incremental decoding with its states stacked and re-ordered, and with no memory of what has been
evaluated before. `rows in vain` are those that lock-step spends on what is finished already. All
searches have the budget of --simulations; MCTS with rollouts has that of --rollout-simulations,
since every simulation costs it a whole translation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import common
import networks
import searches
from listing_beam import decode_vgbs
from listing_mcts import decode_mcts
from listing_rules import Decoded, Rules
from listing_sampling import decode_samples
from random_metric import WordWorth
from torch import Tensor

from fairseq_mcts.generators.search_generator import sentence_seed
from fairseq_mcts.generators.search_metric import SearchMetric
from fairseq_mcts.generators.settings import needs_metric, needs_value
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search.options import PRESETS, SrOptions

BAR = 5.0
SEARCHES = ("V-MCTS", "VGBS", "S+RV", "MCTS+Roll")


@dataclass(frozen=True)
class Case:
    """A network and what it translates."""

    model: Any
    sources: list[Tensor]
    rules: Rules
    metric: WordWorth
    text: TextDecoder


@dataclass(frozen=True)
class Rival:
    """One search, and the listing's way to do it."""

    setup: searches.Setup
    decode: Callable[[], Decoded]


def make_case(options: argparse.Namespace) -> Case:
    model = networks.multiquery("dual_head_multiquery_transformer", options.size, options.seed)
    dictionary = model.decoder.dictionary
    sources = networks.make_sources(dictionary, options.sentences, options.seed)
    rules = Rules(
        dictionary.eos(), dictionary.pad(), networks.MIN_LENGTH, max_len=networks.MAX_LENGTH
    )
    return Case(model, sources, rules, WordWorth(), TextDecoder(dictionary))


def rivals(case: Case, simulations: int, rollout_simulations: int) -> Iterator[Rival]:
    given = (case.model, case.sources)
    seeds = [sentence_seed(networks.SEARCH_SEED, source) for source in case.sources]
    for setups, listing in (
        (searches.v_mcts(simulations), decode_mcts),
        (searches.vgbs(simulations), decode_vgbs),
    ):
        for setup in setups:
            yield Rival(setup, partial(listing, *given, setup.options, case.rules))
    for settings in PRESETS.values():
        samples = SrOptions(samples=simulations, **settings["sr"])
        decode = partial(decode_samples, *given, samples, case.rules, seeds)
        setting = f"τ={samples.temperature}, {simulations} samples"
        yield Rival(searches.Setup("S+RV", setting, samples), decode)
    rollouts = searches.with_rollouts(rollout_simulations, case.metric)
    score = SearchMetric(case.metric, case.text, case.text.decode_batch(case.sources))
    decode = partial(decode_mcts, *given, rollouts, case.rules, score)
    setting = f"{rollout_simulations} simulations"
    yield Rival(searches.Setup("MCTS+Roll", setting, rollouts), decode)


def measure(case: Case, rival: Rival, options: argparse.Namespace) -> common.Comparison:
    generator = networks.search_generator(
        case.model,
        rival.setup.options,
        uses_value=needs_value(rival.setup.options),
        metric=case.metric if needs_metric(rival.setup.options) else None,
    )
    sample = networks.make_sample(case.model, case.sources)
    by_listing: list[Decoded] = []
    here: list[Any] = []
    seconds = common.alternate(
        {
            "listing": lambda: by_listing.append(rival.decode()),
            "here": lambda: here.append(generator.generate([case.model], sample)),
        },
        options,
    )
    listed, found = by_listing[-1], here[-1]
    outputs = networks.best_tokens(found)
    differing = sum(one != other for one, other in zip(listed.outputs, outputs, strict=True))
    return common.Comparison(
        f"{rival.setup.search} ({rival.setup.setting}) by the listing / here",
        seconds["listing"] / seconds["here"],
        common.at_least(BAR),
        {
            **{f"{name} s": value for name, value in seconds.items()},
            "rows listing": listed.rows,
            "rows in vain": listed.rows_in_vain,
            "rows here": generator.statistics.timing.network_rows // len(here),  # of one turn
            "sentences that differ": differing,
        },
        outputs_equal=differing == 0,
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--rollout-simulations", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=SEARCHES, metavar="NAME")
    parser.set_defaults(repeats=1)  # the listing takes its time
    options = common.parse(parser, arguments)
    report = common.Report("against the listing", options, networks.settings())
    case = make_case(options)
    for rival in rivals(case, options.simulations, options.rollout_simulations):
        if rival.setup.search in options.only:
            report.add(measure(case, rival, options))
    report.write()
    return report


if __name__ == "__main__":
    main()
