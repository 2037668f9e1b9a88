"""A value in rounds, as stages: each is a command that can be run by hand as well.

Round 0 learns a value from completions of the policy. Each further round searches with the value
so far on new sources; what the search found, with its true scores, joins the data, and the value
learns on (expert iteration).
"""

from dataclasses import dataclass, field
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import (
    LENGTHS,
    PLUGIN,
    RELABELLING_PROGRESS,
    VALUE_ON_FROZEN_POLICY,
    join_scored,
)
from examples.common.training_log import JSON_LOG, PROGRESS


@dataclass(frozen=True)
class RoundSizes:
    """How much is made and learned; the defaults take some 90 minutes of one core."""

    rounds: int = 2  # after round 0
    first_sources: int = 8000
    further_sources: int = 3000  # of each further round, new ones
    first_updates: int = 2000
    further_updates: int = 1000  # of each further round
    judged_sources: int = 150  # of the validation data, with 16 samples each


@dataclass(frozen=True)
class Given:
    """What the rounds start from."""

    data: Path  # folder of fairseq-preprocess
    policy: Path
    metric: str  # as fairseq-mcts-relabel takes it
    text: tuple[str, ...]  # options of subwords and tokenisation
    monolingual: Path | None = None  # sources without references
    made_by: tuple[Stage, ...] = ()  # the stages that make data and policy


@dataclass(frozen=True)
class ValueRounds:
    """The stages of all rounds, with their folders below `work`.

    Rows that depend on the policy alone are the same for all seeds.
    """

    given: Given
    work: Path
    sizes: RoundSizes = field(default_factory=RoundSizes)
    seed: int = 1
    prefix: str = ""  # of the stages' names, where others have the same

    def stages(self, number: int) -> list[Stage]:
        """What a round adds to those before it."""
        judged = () if number else (self.judged_samples(),)
        return [*judged, self.relabel(number), self.join(number), self.train(number)]

    def all_stages(self) -> list[Stage]:
        """The stages of all rounds."""
        rounds = range(self.sizes.rounds + 1)
        return [stage for number in rounds for stage in self.stages(number)]

    def value(self, number: int) -> Path:
        """The value after a round, with the policy that it belongs to."""
        return self._folder("value", number) / "checkpoint_last.pt"

    def judged_samples(self) -> Stage:
        """Samples of validation sources: how well does a value tell them apart?"""
        return self._relabelling(
            self.work / "samples",
            "sample translations of validation sources, to judge values by",
            ("--subset", "valid", "--limit-sources", str(self.sizes.judged_sources)),
            ("--samples", "16", "--temperature", "0.75", "--path", str(self.given.policy)),
            reads=self.given.made_by,
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
            out = self.work / "rows-0"
            method = ("--method", "completions", "--path", str(self.given.policy))
            title = "complete prefixes off the greedy path and score what they lead to"
        else:
            out = self._folder("rows", number)
            method = ("--method", "search", "--path", str(self.value(number - 1)))
            title = f"round {number}: search with the value so far and score what it found"
        return self._relabelling(
            out,
            title,
            sources,
            (*method, "--samples", "2", "--temperature", "0.75,1"),
            reads=(self.train(number - 1),) if number else self.given.made_by,
        )

    def _relabelling(
        self,
        out: Path,
        title: str,
        sources: tuple[str, ...],
        rows: tuple[str, ...],
        reads: tuple[Stage, ...],
    ) -> Stage:
        return Stage(
            name=f"{self.prefix}{out.name}",
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
        out = self._folder("data", number)
        return join_scored(f"{self.prefix}{out.name}", self.judged_samples(), parts, out)

    def train(self, number: int) -> Stage:
        """The value on a frozen policy: from scratch in round 0, then from the value before."""
        updates = self.sizes.further_updates if number else self.sizes.first_updates
        begin = ("--finetune-from-model", str(self.value(number - 1))) if number else ()
        folder = self._folder("value", number)
        rate = "0.0005" if number else "0.001"
        return Stage(
            name=f"{self.prefix}{folder.name}",
            title=f"round {number}: learn the value",
            command=(
                *("fairseq-train", str(self.join(number).output), *PLUGIN, "--cpu", *JSON_LOG),
                *(*VALUE_ON_FROZEN_POLICY, "--policy-path", str(self.given.policy), *begin),
                *("--lr", rate, "--total-num-update", str(updates), "--max-update", str(updates)),
                *("--max-tokens", "4000", "--no-epoch-checkpoints", "--save-dir", str(folder)),
                *("--log-interval", "50", "--seed", str(self.seed)),
            ),
            output=folder,
            progress=PROGRESS,
            total=updates,
            reads=(self.join(number),),
        )

    def _folder(self, name: str, number: int) -> Path:
        """Of a round; other seeds than the first have their own."""
        seed = f"-seed{self.seed}" if self.seed != 1 else ""
        return self.work / f"{name}-{number}{seed}"
