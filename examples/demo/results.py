"""Score translations and show the scores of all decoders as a table."""

from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF
from tabulate import tabulate

from examples.common.cost import Cost
from examples.common.training_log import last_validation
from examples.demo.decoders import Decoder
from fairseq_mcts.metrics.base import Metric


@dataclass(frozen=True)
class Result:
    """The scores of one decoder on the whole test set."""

    decoder: Decoder
    bleu: float
    chrf: float
    metric: float
    """MLBERTScore, which some decoders search by."""
    exact: float
    """Share of sentences that equal their reference."""
    cost: Cost


@dataclass(frozen=True)
class HeldOut:
    """What translations are compared with."""

    sources: list[str]
    references: list[str]


def value_quality(log: Path) -> str:
    """What the last validation of a value's training says of it, in words."""
    last = last_validation(log)
    said = (
        f"mean absolute error {last['value_mae']:.4f} (of always saying the mean score: "
        f"{last['value_mae_of_mean']:.4f}), correlation {last['value_pearson']:.2f}, "
        f"of finished samples {last['value_pearson_finished']:.2f}"
    )
    if "value_pearson_within" in last:
        said += f", among those of one source {last['value_pearson_within']:.2f}"
    return said


def score(
    decoder: Decoder, hypotheses: list[str], held_out: HeldOut, metric: Metric, cost: Cost
) -> Result:
    """Corpus scores by sacrebleu and by `metric`, which compares with the source."""
    references = held_out.references
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{decoder.name}: {len(hypotheses)} translations for {len(references)} references"
        )
    exact = sum(map(str.__eq__, hypotheses, references))
    return Result(
        decoder=decoder,
        bleu=BLEU().corpus_score(hypotheses, [references]).score,
        chrf=CHRF().corpus_score(hypotheses, [references]).score,
        metric=metric.corpus_score(hypotheses, held_out.sources),
        exact=exact / len(references),
        cost=cost,
    )


def table(results: list[Result]) -> str:
    """The results as text, one line per decoder."""
    rows = [
        (
            *(result.decoder.name, result.decoder.searched_for),
            *(result.bleu, result.chrf, result.metric, f"{result.exact:.1%}"),
            *(result.cost.charged, result.cost.made, result.cost.seconds),
        )
        for result in results
    ]
    head = (
        *("decoder", "searches for", "BLEU", "chrF", "MLBERTScore", "exact"),
        *("charged", "made", "seconds"),
    )
    digits = ("", "", ".2f", ".2f", ".4f", "", ".1f", ".1f", ".1f")
    return tabulate(rows, head, floatfmt=digits, colalign=("left", "left", *["right"] * 7))
