"""The rounds as stages, each a command that can be run by hand as well.

Round 0 learns a value from completions of the policy. Each further round searches with the value
so far on new sources; what the search found, with its true scores, joins the data, and the value
learns on.
"""

from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import (
    DECODING_PROGRESS,
    PLUGIN,
    RELABELLING_PROGRESS,
    SEED,
    VALUE_ON_FROZEN_POLICY,
    join_scored,
)
from examples.common.training_log import JSON_LOG, PROGRESS

#: the searches that are compared, at one budget
DECODERS = {
    "vgbs": ("--search", "vgbs", "--vgbs-alpha", "0.9"),
    "mcts": (
        *("--search", "mcts", "--mcts-c-puct", "3", "--mcts-temperature", "1"),
        *("--mcts-backup", "mean", "--mcts-choose", "visits"),
    ),
}
LENGTHS = ("--max-len-a", "2", "--max-len-b", "10")


@dataclass(frozen=True)
class Sizes:
    """How much is made and learned; the defaults take some 90 minutes of one core."""

    rounds: int = 2  # after round 0
    first_sources: int = 8000
    further_sources: int = 3000  # of each further round, new ones
    first_updates: int = 2000
    further_updates: int = 1000  # of each further round
    judged_sources: int = 150  # of the validation data, with 16 samples each
    budget: int = 50


@dataclass(frozen=True)
class Given:
    """What the rounds start from."""

    data: Path  # folder of fairseq-preprocess
    policy: Path
    metric: str  # as fairseq-mcts-relabel takes it
    text: tuple[str, ...]  # options of subwords and tokenisation
    monolingual: Path | None = None  # sources without references
    subset: str = "valid"  # that is translated


@dataclass(frozen=True)
class Plan:
    """All stages, with their folders below `work`."""

    given: Given
    work: Path
    sizes: Sizes = Sizes()

    def stages(self) -> list[Stage]:
        rounds = range(self.sizes.rounds + 1)
        found = [self.decode_beam(), self.judged_samples()]
        for number in rounds:
            found += [self.relabel(number), self.join(number), self.train(number)]
            found += [self.decode(number, decoder) for decoder in DECODERS]
        return found

    def value(self, number: int) -> Path:
        """The value after a round, with the policy that it belongs to."""
        return self.work / f"value-{number}" / "checkpoint_last.pt"

    def judged_samples(self) -> Stage:
        """Samples of validation sources: how well does a value tell them apart?"""
        return self._relabelling(
            "samples",
            "sample translations of validation sources, to judge values by",
            ("--subset", "valid", "--limit-sources", str(self.sizes.judged_sources)),
            ("--samples", "16", "--temperature", "0.75", "--path", str(self.given.policy)),
            reads=(),
        )

    def relabel(self, number: int) -> Stage:
        """The new rows of a round."""
        sizes = self.sizes
        end = sizes.first_sources + number * sizes.further_sources
        begin = end - (sizes.further_sources if number else sizes.first_sources)
        sources: tuple[str, ...] = ("--subset", "train", "--limit-sources", f"{begin}:{end}")
        if self.given.monolingual is not None:
            sources += ("--monolingual", str(self.given.monolingual))
        if number == 0:
            method = ("--method", "completions", "--path", str(self.given.policy))
            title = "complete prefixes off the greedy path and score what they lead to"
        else:
            method = ("--method", "search", "--path", str(self.value(number - 1)))
            title = f"round {number}: search with the value so far and score what it found"
        return self._relabelling(
            f"rows-{number}",
            title,
            sources,
            (*method, "--samples", "2", "--temperature", "0.75,1"),
            reads=(self.train(number - 1),) if number else (),
        )

    def _relabelling(
        self,
        name: str,
        title: str,
        sources: tuple[str, ...],
        rows: tuple[str, ...],
        reads: tuple[Stage, ...],
    ) -> Stage:
        out = self.work / name
        return Stage(
            name=name,
            title=title,
            command=(
                *("fairseq-mcts-relabel", str(self.given.data), *sources, *rows, "--cpu"),
                *("--metric", self.given.metric, *self.given.text, *LENGTHS),
                *("--skip-too-long", "--chunk-rows", "250", "--out", str(out)),
            ),
            output=out,
            progress=RELABELLING_PROGRESS,
            reads=reads,
        )

    def join(self, number: int) -> Stage:
        """The rows of all rounds so far as one folder."""
        parts = [self.relabel(one) for one in range(number + 1)]
        return join_scored(
            f"join-{number}", self.judged_samples(), parts, self.work / f"data-{number}"
        )

    def train(self, number: int) -> Stage:
        """The value on a frozen policy: from scratch in round 0, then from the value before."""
        updates = self.sizes.further_updates if number else self.sizes.first_updates
        begin = ("--finetune-from-model", str(self.value(number - 1))) if number else ()
        folder = self.value(number).parent
        rate = "0.0005" if number else "0.001"
        return Stage(
            name=f"train-{number}",
            title=f"round {number}: learn the value",
            command=(
                *("fairseq-train", str(self.join(number).output), *PLUGIN, "--cpu", *JSON_LOG),
                *(*VALUE_ON_FROZEN_POLICY, "--policy-path", str(self.given.policy), *begin),
                *("--lr", rate, "--total-num-update", str(updates), "--max-update", str(updates)),
                *("--max-tokens", "4000", "--no-epoch-checkpoints", "--save-dir", str(folder)),
                *("--log-interval", "50", "--seed", SEED),
            ),
            output=folder,
            progress=PROGRESS,
            total=updates,
            reads=(self.join(number),),
        )

    def decode_beam(self) -> Stage:
        return self._decoding("beam", self.given.policy, ("--beam", "5"), ())

    def decode(self, number: int, decoder: str) -> Stage:
        """The translations of one search with the value of one round."""
        options = (*DECODERS[decoder], "--search-budget", str(self.sizes.budget))
        return self._decoding(
            f"{decoder}-{number}", self.value(number), options, (self.train(number),)
        )

    def _decoding(
        self, name: str, model: Path, options: tuple[str, ...], reads: tuple[Stage, ...]
    ) -> Stage:
        out = self.work / "decoded" / name
        return Stage(
            name=f"decode-{name}",
            title=f"translate {self.given.subset}: {name}",
            command=(
                *("fairseq-generate", str(self.given.data), *PLUGIN, "--cpu", "--seed", SEED),
                *("--gen-subset", self.given.subset, "--batch-size", "50", *self.given.text),
                *(*LENGTHS, "--path", str(model), *options, "--results-path", str(out)),
                *("--log-format", "simple", "--log-interval", "1"),
            ),
            output=out,
            progress=DECODING_PROGRESS,
            reads=reads,
        )
