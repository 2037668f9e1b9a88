"""Read what fairseq-generate wrote, score it and show it as a table."""

import re
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF

GENERATED = "generate-test.txt"


@dataclass(frozen=True)
class Result:
    """The scores of one decoder on the whole test set."""

    decoder: str
    bleu: float
    chrf: float
    exact: float
    """Share of sentences that equal their reference."""
    seconds: float


def read_hypotheses(folder: Path) -> list[str]:
    """The detokenised translations in the order of the test set."""
    text = (folder / GENERATED).read_text(encoding="utf-8")
    # an empty translation has a line too, with nothing after the score
    found = re.findall(r"^D-(\d+)\t[^\t\n]+\t(.*)$", text, flags=re.MULTILINE)
    return [hypothesis for _, hypothesis in sorted(found, key=lambda line: int(line[0]))]


def read_seconds(log: Path) -> float:
    """How long fairseq-generate says that it searched."""
    found = re.search(r"Translated \d+ sentences .* in ([\d.]+)s", log.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{log}: fairseq-generate reports no time")
    return float(found.group(1))


def score(decoder: str, hypotheses: list[str], references: list[str], seconds: float) -> Result:
    """Corpus scores by sacrebleu."""
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{decoder}: {len(hypotheses)} translations for {len(references)} references"
        )
    exact = sum(map(str.__eq__, hypotheses, references))
    return Result(
        decoder=decoder,
        bleu=BLEU().corpus_score(hypotheses, [references]).score,
        chrf=CHRF().corpus_score(hypotheses, [references]).score,
        exact=exact / len(references),
        seconds=seconds,
    )


def table(results: list[Result]) -> str:
    """The results as text, one line per decoder."""
    head = f"{'decoder':<12}{'BLEU':>8}{'chrF':>8}{'exact':>8}{'seconds':>9}"
    lines = [
        f"{result.decoder:<12}{result.bleu:>8.2f}{result.chrf:>8.2f}"
        f"{result.exact:>8.1%}{result.seconds:>9.1f}"
        for result in results
    ]
    return "\n".join([head, "-" * len(head), *lines])
