"""The stages of the ablation: those of the demo up to the policy, then scores, then four values."""

from dataclasses import dataclass

from examples.common.runner import Stage
from examples.demo.plan import PLUGIN, SEED, Plan


@dataclass(frozen=True)
class Cell:
    """One way to learn the value: what the encoder reads, and of which prefixes."""

    encoder_input: str  # source or reference
    positions: str  # every or finished

    @property
    def stage_name(self) -> str:
        return f"value-{self.encoder_input}-{self.positions}"


CELLS = tuple(
    Cell(encoder_input, positions)
    for encoder_input in ("source", "reference")
    for positions in ("every", "finished")
)


@dataclass(frozen=True)
class AblationPlan:
    """Goes on in the demo's work folder: what the demo has made is not made again."""

    demo: Plan
    updates: int

    def stages(self) -> list[Stage]:
        cells = [self.train(cell) for cell in CELLS]
        return [*self.demo.supervised(), self.demo.relabel_for_bleu(), *cells]

    def train(self, cell: Cell) -> Stage:
        """Trains the value of one cell, from the weights of the policy."""
        updates = str(self.updates)
        relabelling = self.demo.relabel_for_bleu()
        folder = self.demo.work / "ablation" / cell.stage_name
        return Stage(
            name=cell.stage_name,
            title=f"learn the value: {cell.encoder_input}, {cell.positions}",
            command=(
                *(
                    "fairseq-train",
                    str(relabelling.output),
                    *PLUGIN,
                    "--cpu",
                    "--log-format",
                    "json",
                ),
                *("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings"),
                *("--finetune-from-model", str(self.demo.checkpoint("policy"))),
                *("--criterion", "value", "--policy-weight", "0", "--value-weight", "1"),
                *("--value-encoder-input", cell.encoder_input),
                *("--value-positions", cell.positions, "--value-target", "hl-gauss"),
                *("--hl-gauss-sigma", "5"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1"),
                *("--lr", "0.001", "--lr-scheduler", "polynomial_decay", "--warmup-updates", "100"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "2000"),
                *("--no-epoch-checkpoints", "--log-interval", "20", "--seed", SEED),
                *("--save-dir", str(folder)),
            ),
            output=folder,
            progress=r'"num_updates": "(?P<done>\d+)"',
            total=self.updates,
            reads=(relabelling,),
        )
