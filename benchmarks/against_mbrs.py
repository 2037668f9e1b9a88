"""Is minimum Bayes risk decoding no slower than the package mbrs, fed with the same candidates?

    pip install mbrs
    python benchmarks/against_mbrs.py --references test.de [--encoder DIR]

--samples candidates for each of --sentences lines of the file: variants of the line, some of which
occur more than once (see metric_speed.py). Both sides choose one for each line by chrF, by BLEU,
and by BERTScore if there is an --encoder; what is compared is the time behind the sampling, from
the texts to the choice. The package is set as is fastest for it: chrF in compiled code (fastchrf,
50 times faster than its default), BLEU in as many processes as there are cores, whose
time counts too with --clock cpu.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import Comparison, Report, alternate, at_most, make_parser, parse
from metric_speed import make_candidates

from fairseq_mcts.generators.search_metric import SearchUtility
from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.metrics.system_output import read_lines
from fairseq_mcts.search import Evaluations, Hypothesis
from fairseq_mcts.search.mbr import Candidates, rank_by_utility
from fairseq_mcts.search.scorer import Scorer

CORES = os.cpu_count()
BAR = 1.0  # our time over theirs, at most


class Texts:
    """Stands for the text decoder of a task: a candidate's only token is its number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def decode(self, tokens: Any) -> str:
        return self._texts[tokens[0]]


def choose(metric: Metric, candidates: Sequence[Sequence[str]], aggregated: bool) -> list[str]:
    """Our choice for each sentence."""
    texts = list(dict.fromkeys(text for own in candidates for text in own))
    numbers = {text: number for number, text in enumerate(texts)}
    batch = [
        Candidates.of(
            [
                Hypothesis((numbers[text],), 0.0, (0.0,), None, 0.0, Evaluations(0, 0))
                for text in own
            ],
            by_probability=False,
        )
        for own in candidates
    ]
    scorer = Scorer(SearchUtility(metric, Texts(texts), ()))  # type: ignore[arg-type]
    ranked = rank_by_utility(batch, scorer, aggregated=aggregated)
    return [texts[best.tokens[0]] for best, *_ in ranked]


def choose_by_package(decoder: Any, candidates: Sequence[Sequence[str]]) -> list[str]:
    """The package's choice for each sentence."""
    return [decoder.decode(list(own), list(own)).sentence[0] for own in candidates]


def sides(
    encoder: Path | None, layer: int | None
) -> dict[str, tuple[Metric, bool, Callable[[], Any]]]:
    """What is compared: our metric, whether references are aggregated, the package's decoder."""
    from mbrs import decoders, metrics

    def package(kind: str, metric: type, **options: Any) -> Callable[[], Any]:
        cls = getattr(decoders, kind)
        return lambda: cls(cls.Config(), metric(metric.Config(**options)))

    chrf, bleu = build_metric("chrf"), build_metric("bleu")
    pairwise, aggregated = "DecoderMBR", "DecoderAggregateMBR"
    found = {
        "chrF": (chrf, False, package(pairwise, metrics.MetricChrF, fastchrf=True)),
        "BLEU": (bleu, False, package(pairwise, metrics.MetricBLEU, num_workers=CORES)),
        "chrF, aggregated": (
            chrf,
            True,
            package(aggregated, metrics.MetricChrF, fastchrf=True),
        ),
        "BLEU, aggregated": (bleu, True, package(aggregated, metrics.MetricBLEU)),
    }
    if encoder is not None:
        # no memory of texts beyond a call: the package has none
        options = "" if layer is None else f",layer={layer}"
        metric = build_metric(f"bertscore:model={encoder},cache_mb=0{options}")
        of_layer = metric.layer  # type: ignore[attr-defined]
        theirs = {"model_type": str(encoder), "num_layers": of_layer, "cpu": True}
        package_side = package(pairwise, metrics.MetricBERTScore, **theirs)
        found["BERTScore"] = (metric, False, package_side)
    return found


def main(arguments: Sequence[str] | None = None) -> Report:
    options = parse(_parser(), arguments)
    lines = [line for line in read_lines(options.references) if line][: options.sentences]
    candidates = make_candidates(lines, options.samples, options.deviation, options.seed)
    distinct = np.mean([len(set(own)) for own in candidates])
    report = Report("against_mbrs", options, {"distinct candidates": round(float(distinct), 1)})
    for name, (metric, aggregated, package) in sides(options.encoder, options.layer).items():
        decoder = package()
        ours = choose(metric, candidates, aggregated)
        theirs = choose_by_package(decoder, candidates)
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        seconds = alternate(
            {
                "ours": lambda m=metric, a=aggregated: choose(m, candidates, a),  # type: ignore[misc]
                "mbrs": lambda d=decoder: choose_by_package(d, candidates),  # type: ignore[misc]
            },
            options,
        )
        report.add(
            Comparison(
                f"{name}: ours / mbrs",
                seconds["ours"] / seconds["mbrs"],
                at_most(BAR),
                {"ours s": seconds["ours"], "mbrs s": seconds["mbrs"], "same choices": same},
                outputs_equal=same == len(candidates),
            )
        )
    report.write()
    return report


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(str(__doc__))
    parser.add_argument("--references", type=Path, required=True, help="a text file")
    parser.add_argument("--encoder", type=Path, help="folder of a transformers encoder")
    parser.add_argument("--layer", type=int, help="of the encoder (default: its usual one)")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--samples", type=int, default=50, help="candidates of each sentence")
    parser.add_argument("--deviation", type=float, default=0.1, help="see metric_speed.py")
    return parser


if __name__ == "__main__":
    main()
