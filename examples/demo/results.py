"""Read what fairseq-generate wrote, score it and show it as a table."""

import re
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF

from examples.common.cost import Cost
from examples.common.training_log import last_validation
from examples.demo.decoders import Decoder
from fairseq_mcts.metrics.base import Metric

GENERATED = "generate-test.txt"


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


def read_hypotheses(folder: Path) -> list[str]:
    """The detokenised translations in the order of the test set."""
    text = (folder / GENERATED).read_text(encoding="utf-8")
    # an empty translation has a line too, with nothing after the score
    found = re.findall(r"^D-(\d+)\t[^\t\n]+\t(.*)$", text, flags=re.MULTILINE)
    return [hypothesis for _, hypothesis in sorted(found, key=lambda line: int(line[0]))]


def value_quality(log: Path) -> str:
    """What the last validation of a value's training says of it, in words."""
    last = last_validation(log)
    return (
        f"mean absolute error {last['value_mae']:.4f} (of always saying the mean score: "
        f"{last['value_mae_of_mean']:.4f}), correlation {last['value_pearson']:.2f}, "
        f"of finished samples {last['value_pearson_finished']:.2f}"
    )


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
    head = (
        f"{'decoder':<17}{'searches for':<14}{'BLEU':>7}{'chrF':>7}{'MLBERTScore':>13}{'exact':>8}"
        f"{'charged':>9}{'made':>7}{'seconds':>9}"
    )
    lines = [
        f"{result.decoder.name:<17}{result.decoder.searched_for:<14}{result.bleu:>7.2f}{result.chrf:>7.2f}{result.metric:>13.4f}"
        f"{result.exact:>8.1%}{result.cost.charged:>9.1f}{result.cost.made:>7.1f}"
        f"{result.cost.seconds:>9.1f}"
        for result in results
    ]
    return "\n".join([head, "-" * len(head), *lines])
