"""The stages up to the supervised policy: text, subwords, binarised data, training."""

from dataclasses import dataclass

from examples.common.runner import Stage
from examples.common.stages import PLUGIN, SEED, binarise, split_into_subwords
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.multi30k.layout import Layout


@dataclass(frozen=True)
class PolicyTraining:
    """How the policy is trained: some 9 passes over the 29,000 pairs.

    The batches are small, which makes more of few passes.
    """

    pieces: int = 6000  # subwords of both languages together
    updates: int = 3000
    max_tokens: int = 1600  # source or target tokens of a batch, whichever are more
    learning_rate: float = 0.0015
    dropout: float = 0.25


@dataclass(frozen=True)
class SupervisedStages:
    """Everything that needs no value and no metric."""

    layout: Layout
    training: PolicyTraining = PolicyTraining()

    def all(self) -> list[Stage]:
        return [self.corpus(), self.subwords(), self.binarise(), self.train()]

    def corpus(self) -> Stage:
        layout = self.layout
        return Stage(
            name="corpus",
            title=f"lay out Multi30k, {'–'.join(layout.languages)}",
            command=(
                *("python", "-m", "examples.multi30k.corpus", "--data", str(layout.data)),
                *("--languages", *layout.languages, "--out", str(layout.corpus)),
            ),
            output=layout.corpus,
            reads=(),
        )

    def subwords(self) -> Stage:
        layout = self.layout
        pieces = self.training.pieces
        return split_into_subwords(self.corpus(), layout.languages, pieces, layout.subwords)

    def binarise(self) -> Stage:
        return binarise(self.subwords(), self.layout.languages, self.layout.binarised)

    def train(self) -> Stage:
        """Train with a learning rate that falls to zero: it makes the most of a short training."""
        updates = str(self.training.updates)
        return Stage(
            name="policy",
            title="train the supervised policy, a multi-query transformer",
            command=(
                *("fairseq-train", str(self.layout.binarised), *PLUGIN, "--cpu"),
                *("--arch", "multiquery_transformer_small", "--share-all-embeddings"),
                *("--dropout", str(self.training.dropout)),
                *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--adam-eps", "1e-9"),
                *("--lr", str(self.training.learning_rate), "--lr-scheduler", "polynomial_decay"),
                *("--warmup-updates", "400", "--total-num-update", updates),
                *("--max-update", updates, "--max-tokens", str(self.training.max_tokens)),
                *("--no-epoch-checkpoints", "--save-dir", str(self.layout.policy_folder)),
                *(*JSON_LOG, "--log-interval", "50", "--seed", SEED),
            ),
            output=self.layout.policy_folder,
            progress=PROGRESS,
            total=self.training.updates,
            reads=(self.binarise(),),
        )
