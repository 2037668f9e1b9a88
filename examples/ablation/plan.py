"""The stages of the ablation: those of the demo up to the policy, then scores, then five values."""

from dataclasses import dataclass

from examples.common.runner import Stage
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
        return [*self.demo.supervised(), self.demo.relabel_for_bleu(), *cells]

    def train(self, cell: Cell) -> Stage:
        """Train the value of one cell, from the weights of the policy."""
        return self.demo.train_value(
            name=cell.stage_name,
            title=f"learn the value by {cell.criterion}: {cell.encoder_input}, {cell.positions}",
            relabelling=self.demo.relabel_for_bleu(),
            criterion=cell.options,
            updates=self.updates,
            warmup=100,
            out=self.demo.work / "ablation" / cell.stage_name,
        )
