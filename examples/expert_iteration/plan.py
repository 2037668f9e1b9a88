"""The rounds and the searches that show what each has brought, as stages."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import DECODING_PROGRESS, LENGTHS, PLUGIN, SEED
from examples.common.value_rounds import Given, RoundSizes, ValueRounds

#: the searches that are compared, at one budget
DECODERS = {
    "vgbs": ("--search", "vgbs", "--vgbs-alpha", "0.9"),
    "mcts": (
        *("--search", "mcts", "--mcts-c-puct", "3", "--mcts-temperature", "1"),
        *("--mcts-backup", "mean", "--mcts-choose", "visits"),
    ),
}


@dataclass(frozen=True)
class Plan:
    """All stages, with their folders below `work`."""

    given: Given
    work: Path
    sizes: RoundSizes = field(default_factory=RoundSizes)
    subset: str = "valid"  # that is translated
    budget: int = 50

    @cached_property
    def rounds(self) -> ValueRounds:
        return ValueRounds(self.given, self.work, self.sizes)

    def stages(self) -> list[Stage]:
        found = [self.decode_beam()]
        for number in range(self.sizes.rounds + 1):
            found += self.rounds.stages(number)
            found += [self.decode(number, decoder) for decoder in DECODERS]
        return found

    def decode_beam(self) -> Stage:
        return self._decoding("beam", self.given.policy, ("--beam", "5"), ())

    def decode(self, number: int, decoder: str) -> Stage:
        """The translations of one search with the value of one round."""
        options = (*DECODERS[decoder], "--search-budget", str(self.budget))
        value = self.rounds.value(number)
        return self._decoding(f"{decoder}-{number}", value, options, (self.rounds.train(number),))

    def _decoding(
        self, name: str, model: Path, options: tuple[str, ...], reads: tuple[Stage, ...]
    ) -> Stage:
        out = self.work / "decoded" / name
        return Stage(
            name=f"decode-{name}",
            title=f"translate {self.subset}: {name}",
            command=(
                *("fairseq-generate", str(self.given.data), *PLUGIN, "--cpu", "--seed", SEED),
                *("--gen-subset", self.subset, "--batch-size", "50", *self.given.text),
                *(*LENGTHS, "--path", str(model), *options, "--results-path", str(out)),
                *("--log-format", "simple", "--log-interval", "1"),
            ),
            output=out,
            progress=DECODING_PROGRESS,
            reads=reads,
        )
