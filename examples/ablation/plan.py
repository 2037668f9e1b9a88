"""The stages of the ablation: those of the demo up to the policy, then scores, then five values."""

from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import PLUGIN
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.demo.plan import Plan


@dataclass(frozen=True)
class Cell:
    """One way to learn the value: what the encoder reads, of which prefixes, by which criterion."""

    encoder_input: str  # source or reference
    positions: str  # every or finished
    criterion: str = "value"

    @property
    def stage_name(self) -> str:
        return f"{self.criterion}-{self.encoder_input}-{self.positions}"

    @property
    def options(self) -> tuple[str, ...]:
        """What the criterion is told; no policy is learned, so that only the value differs."""
        losses = ("--criterion", self.criterion, "--value-preset", "paper")
        common = (*losses, "--policy-weight", "0")
        if self.criterion == "hybrid":
            return common  # the paper's weights; it reads both, and judges every prefix
        return (
            *(*common, "--value-weight", "1", "--value-encoder-input", self.encoder_input),
            *("--value-positions", self.positions),
        )


CELLS = (
    *(Cell(one, other) for one in ("source", "reference") for other in ("every", "finished")),
    Cell("source", "every", "hybrid"),
)


@dataclass(frozen=True)
class AblationPlan:
    """The stages, in the demo's work folder: what the demo has made is not made again."""

    demo: Plan
    updates: int

    def stages(self) -> list[Stage]:
        cells = [self.train(cell) for cell in CELLS]
        return [*self.demo.supervised(), self.relabel(), *cells]

    def relabel(self) -> Stage:
        """Scores of what a value is learned from: greedy translations, as in the paper."""
        return self.demo.relabel(
            "relabel-bleu",
            "translate the training data greedily and score it by BLEU",
            ("--metric", "bleu", "--max-tokens", "4000"),
            self.demo.work / "scored-bleu",
            reads=(self.demo.train_policy(),),
        )

    def train(self, cell: Cell) -> Stage:
        """Train the value of one cell, from the weights of the policy."""
        out, updates = self._folder(cell), str(self.updates)
        return Stage(
            name=cell.stage_name,
            title=f"learn the value by {cell.criterion}: {cell.encoder_input}, {cell.positions}",
            command=(
                *("fairseq-train", str(self.relabel().output), *PLUGIN, "--cpu", *JSON_LOG),
                *("--log-interval", "25", "--seed", str(self.demo.seed)),
                *("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings"),
                *("--finetune-from-model", str(self.demo.checkpoint("policy")), *cell.options),
                # wide targets suit a short training
                *("--value-target", "hl-gauss", "--hl-gauss-sigma", "5"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1"),
                *("--lr", "0.001", "--lr-scheduler", "polynomial_decay", "--warmup-updates", "100"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "2000"),
                *("--no-epoch-checkpoints", "--save-dir", str(out)),
            ),
            output=out,
            progress=PROGRESS,
            total=self.updates,
            reads=(self.relabel(),),
        )

    def _folder(self, cell: Cell) -> Path:
        return self.demo.work / "ablation" / cell.stage_name
