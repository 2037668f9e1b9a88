"""Where the study of one language pair keeps what it makes, and what all its commands share."""

from dataclasses import dataclass
from pathlib import Path

SOURCE = "en"
TARGETS = ("de", "fr")

#: the metrics that values are trained for, in the paper's order
METRICS = ("bleu", "bertscore", "mlbertscore")
ENCODER_METRICS = ("bertscore", "mlbertscore")


def mark_sampled(name: str, *, sampled: bool) -> str:
    """A name, marked if it has to do with samples and not with greedy translations."""
    return f"{name}-sampled" if sampled else name


@dataclass(frozen=True)
class Layout:
    """The inputs of the study and the folders of one language pair below the work folder."""

    data: Path
    work: Path
    encoder: str  # folder or hub name of the multilingual encoder of the BERTScores
    target: str
    monolingual: Path | None = None  # more text in the source language, for values of MLBERTScore

    @property
    def languages(self) -> tuple[str, str]:
        return SOURCE, self.target

    @property
    def pair(self) -> Path:
        """Everything of this language pair."""
        return self.work / f"{SOURCE}-{self.target}"

    @property
    def corpus(self) -> Path:
        return self.pair / "corpus"

    @property
    def subwords(self) -> Path:
        return self.pair / "subwords"

    @property
    def binarised(self) -> Path:
        return self.pair / "binarised"

    @property
    def policy_folder(self) -> Path:
        return self.pair / "policy"

    @property
    def policy(self) -> Path:
        """The supervised policy."""
        return self.policy_folder / "checkpoint_best.pt"

    def scored(self, metric: str, *, sampled: bool) -> Path:
        """Translations of the training data with their scores, greedy or sampled ones."""
        return self.pair / f"scored-{mark_sampled(metric, sampled=sampled)}"

    def value_folder(self, folder: str) -> Path:
        return self.pair / "values" / folder

    def value(self, folder: str) -> Path:
        """A model with a value head, at the end of its training."""
        return self.value_folder(folder) / "checkpoint_last.pt"

    def sweep(self, name: str) -> Path:
        return self.pair / "sweeps" / name

    def decoded(self, system: str) -> Path:
        return self.pair / "decoded" / system

    @property
    def trees(self) -> Path:
        """Search trees of some test sentences."""
        return self.pair / "trees"

    def metric(self, name: str) -> str:
        """A metric as commands take it."""
        return f"{name}:model={self.encoder}" if name in ENCODER_METRICS else name

    @property
    def subword_options(self) -> tuple[str, ...]:
        """How commands turn subwords into text."""
        model = self.subwords / "sentencepiece.model"
        return ("--bpe", "sentencepiece", "--sentencepiece-model", str(model))
