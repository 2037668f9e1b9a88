"""How much faster are the searches here than written the way the paper's listing does?

    python benchmarks/against_listing.py [--size small|base] [--only NAME …] [--json FILE]
    python benchmarks/against_listing.py --path dual_head.pt --data data-bin [--only NAME …]

Same network, same sentences, same rules, and every sentence's tokens must be equal. That way is:
batched, in lock-step, on fairseq's incremental decoding, each node's state an entry of a
dictionary, and no memory of what has been evaluated before. `listing_mcts.py` follows the paper's
listing (V-MCTS and MCTS with rollouts); `listing_beam.py` and `listing_sampling.py` are written
after it, since the paper lists nothing for them. Their hypotheses are all of one length, so a
faster rival is easily written, with one incremental state that fairseq re-orders instead of the
dictionary: "by re-ordering" is that one, to which the bar does not apply. `rows in vain` are those
that lock-step spends on what is finished already. All searches have the budget of --simulations;
MCTS with rollouts has that of --rollout-simulations, since every simulation costs it a whole
translation, and is left out with --path, where its metric would judge no real text.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import common
import dual_heads
import networks
import searches
from listing_beam import decode_vgbs
from listing_mcts import decode_mcts
from listing_rules import Decoded, Rules
from listing_sampling import decode_samples
from listing_states import AlignedRows, BeginRows, RowsInDictionary
from random_metric import WordWorth
from torch import Tensor

from fairseq_mcts.generators.search_generator import sentence_seed
from fairseq_mcts.generators.search_metric import SearchMetric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search import make_decoder

BAR = 5.0
LISTING = "by the listing"
SEARCHES = ("V-MCTS", "VGBS", "S+RV", "MCTS+Roll")


@dataclass(frozen=True)
class Case:
    """A network and what it translates."""

    model: Any
    sources: list[Tensor]
    limits: networks.Limits
    rules: Rules  # the same
    metric: WordWorth | None  # of the words of random networks


@dataclass(frozen=True)
class Rival:
    """One search, and other ways to do it; the listing's comes first."""

    setup: searches.Setup
    ways: dict[str, Callable[[], Decoded]]


def make_case(options: argparse.Namespace) -> Case:
    model, sources = dual_heads.load(options)
    dictionary, limits = model.decoder.dictionary, dual_heads.limits(options)
    rules = Rules(dictionary.eos(), dictionary.pad(), limits.min_len, max_len=limits.max_len_b)
    metric = WordWorth() if options.path is None else None
    return Case(model, sources, limits, rules, metric)


def rivals(case: Case, simulations: int, rollout_simulations: int) -> Iterator[Rival]:
    given = (case.model, case.sources)
    for setup in searches.v_mcts(simulations):
        yield Rival(
            setup, {LISTING: partial(decode_mcts, *given, setup.decoder.options, case.rules)}
        )
    for setup in searches.vgbs(simulations):
        yield Rival(
            setup, _both_ways(partial(decode_vgbs, *given, setup.decoder.options, case.rules))
        )
    seeds = [sentence_seed(networks.SEARCH_SEED, source) for source in case.sources]
    for preset in searches.PRESETS:
        sampling = make_decoder("sr", preset=preset, budget=simulations)
        samples = partial(decode_samples, *given, sampling.options, case.rules, seeds)
        setting = f"τ={sampling.options.temperature}, {simulations} samples"
        yield Rival(searches.Setup("S+RV", setting, sampling), _both_ways(samples))
    if case.metric is None:
        return
    rollouts = searches.with_rollouts(rollout_simulations)
    text = TextDecoder(case.model.decoder.dictionary)
    metric = SearchMetric(case.metric, text, text.decode_batch(case.sources))

    def score(sentences: list[int], tokens: list[tuple[int, ...]]) -> list[float]:
        return metric(sentences, tokens, [0.0] * len(tokens))  # this one reads no likelihood

    setup = searches.Setup("MCTS+Roll", f"{rollout_simulations} simulations", rollouts)
    yield Rival(setup, {LISTING: partial(decode_mcts, *given, rollouts.options, case.rules, score)})


def _both_ways(decode: Callable[[BeginRows], Decoded]) -> dict[str, Callable[[], Decoded]]:
    """With states in a dictionary, and with fairseq's re-ordering."""
    return {
        LISTING: partial(decode, RowsInDictionary.begin),
        "by re-ordering": partial(decode, AlignedRows.begin),
    }


def measure(case: Case, rival: Rival, options: argparse.Namespace) -> Iterator[common.Comparison]:
    generator = networks.search_generator(
        case.model,
        rival.setup.decoder,
        case.limits,
        metric=case.metric if rival.setup.decoder.needs_metric else None,
    )
    sample = networks.make_sample(case.model, case.sources)
    found: dict[str, Decoded] = {}
    here: list[Any] = []

    def decode(way: str) -> None:
        found[way] = rival.ways[way]()

    sides: dict[str, Callable[[], object]] = {way: partial(decode, way) for way in rival.ways}
    sides["here"] = lambda: here.append(generator.generate([case.model], sample))
    seconds = common.alternate(sides, options)
    outputs = networks.best_tokens(here[-1])
    for way, decoded in found.items():
        differing = sum(one != other for one, other in zip(decoded.outputs, outputs, strict=True))
        yield common.Comparison(
            f"{rival.setup.search} ({rival.setup.setting}) {way} / here",
            seconds[way] / seconds["here"],
            common.at_least(BAR) if way == LISTING else None,
            {
                "rival s": seconds[way],
                "here s": seconds["here"],
                "rows rival": decoded.rows,
                "rows in vain": decoded.rows_in_vain,
                "rows here": generator.statistics.timing.network_rows // len(here),  # of one turn
                "sentences that differ": differing,
            },
            outputs_equal=differing == 0,
        )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    dual_heads.add_options(parser)
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--rollout-simulations", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=SEARCHES, metavar="NAME")
    parser.set_defaults(repeats=1)  # the listing takes its time
    options = dual_heads.parse(parser, arguments)
    report = common.Report("against the listing", options, dual_heads.settings(options))
    case = make_case(options)
    for rival in rivals(case, options.simulations, options.rollout_simulations):
        if rival.setup.search in options.only:
            for comparison in measure(case, rival, options):
                report.add(comparison)
    report.write()
    return report


if __name__ == "__main__":
    main()
