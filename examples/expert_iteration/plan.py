"""The rounds and the searches that show what each has brought, as stages."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import DECODING_PROGRESS, LENGTHS, PLUGIN, SEED
from examples.common.training_log import JSON_LOG, PROGRESS
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
    policy_updates: int = 600  # of the policy, from the best rows of all rounds; 0: it stays

    @cached_property
    def rounds(self) -> ValueRounds:
        return ValueRounds(self.given, self.work, self.sizes)

    def stages(self) -> list[Stage]:
        found = [self.decode_beam()]
        for number in range(self.sizes.rounds + 1):
            found += self.rounds.stages(number)
            found += [self.decode(number, decoder) for decoder in DECODERS]
        if self.policy_updates:
            found += [self.keep_best(), self.train_policy(), self.decode_new_beam()]
            found += [self.decode_new(decoder) for decoder in DECODERS]
        return found

    @property
    def new_policy(self) -> Path:
        """The policy that has learned from what searches found."""
        return self.train_policy().output / "checkpoint_last.pt"

    def decode_beam(self) -> Stage:
        return self._decoding("beam", ("--path", str(self.given.policy), "--beam", "5"), ())

    def decode(self, number: int, decoder: str) -> Stage:
        """The translations of one search with the value of one round."""
        options = (*DECODERS[decoder], "--search-budget", str(self.budget))
        path = ("--path", str(self.rounds.value(number)))
        reads = (self.rounds.train(number),)
        return self._decoding(f"{decoder}-{number}", (*path, *options), reads)

    def keep_best(self) -> Stage:
        """The best row of each source, of whatever way it was found in."""
        joined, out = self.rounds.join(self.sizes.rounds), self.work / "best-rows"
        return Stage(
            name=out.name,
            title="keep the best translation that was found of each source",
            command=(
                *("python", "-m", "examples.expert_iteration.best_rows"),
                *("--rows", str(joined.output), "--out", str(out)),
            ),
            output=out,
            reads=(joined,),
        )

    def train_policy(self) -> Stage:
        """Train the policy on to the likelihood of these; what holds it was made for values, so
        there is a value head, which learns nothing here."""
        updates, out = str(self.policy_updates), self.work / "policy"
        best = self.keep_best()
        return Stage(
            name=out.name,
            title="train the policy on what searches found",
            command=(
                *("fairseq-train", str(best.output), *PLUGIN, "--cpu", *JSON_LOG),
                *("--arch", "policy_with_value", "--policy-path", str(self.given.policy)),
                *("--criterion", "value", "--value-weight", "0", "--policy-weight", "1"),
                *("--policy-loss", "nll", "--label-smoothing", "0.1"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1"),
                *("--lr", "0.0003", "--lr-scheduler", "polynomial_decay", "--warmup-updates", "50"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "2000"),
                *("--no-epoch-checkpoints", "--save-dir", str(out)),
                *("--log-interval", "50", "--seed", SEED),
            ),
            output=out,
            progress=PROGRESS,
            total=self.policy_updates,
            reads=(best,),
        )

    def decode_new_beam(self) -> Stage:
        reads = (self.train_policy(),)
        return self._decoding("beam-new", ("--path", str(self.new_policy), "--beam", "5"), reads)

    def decode_new(self, decoder: str) -> Stage:
        """A search with the new policy, by the last value, which still reads the old one."""
        last = self.sizes.rounds
        paths = ("--path", str(self.new_policy), "--value-path", str(self.rounds.value(last)))
        options = (*paths, *DECODERS[decoder], "--search-budget", str(self.budget))
        reads = (self.train_policy(), self.rounds.train(last))
        return self._decoding(f"{decoder}-new", options, reads)

    def _decoding(self, name: str, options: tuple[str, ...], reads: tuple[Stage, ...]) -> Stage:
        out = self.work / "decoded" / name
        return Stage(
            name=f"decode-{name}",
            title=f"translate {self.subset}: {name}",
            command=(
                *("fairseq-generate", str(self.given.data), *PLUGIN, "--cpu", "--seed", SEED),
                *("--gen-subset", self.subset, "--batch-size", "50", *self.given.text),
                *(*LENGTHS, *options, "--results-path", str(out)),
                *("--log-format", "simple", "--log-interval", "1"),
            ),
            output=out,
            progress=DECODING_PROGRESS,
            reads=reads,
        )
