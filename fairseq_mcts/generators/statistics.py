"""What a run of decoding cost: counted per batch, reported at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from fairseq_mcts.search.results import Hypothesis, Timing


@dataclass
class DecodingStatistics:
    """Sums over all batches of a run."""

    search: str  # the decoder's name, as in --search
    sentences: int = 0
    tokens: int = 0  # of the best hypotheses, eos counted
    charged: int = 0  # network evaluations by the paper's accounting
    made: int = 0  # network evaluations that had to be made
    encoding: float = 0.0  # seconds in the encoders
    timing: Timing | None = None  # of everything behind them; fairseq's own decoder has none
    peak_bytes: int = 0  # of keys, values and trees of one batch
    #: sentences whose search has failed, as the output calls them, and what became of them
    failures: list[tuple[str, str]] = field(default_factory=list)
    wanted: int = 1  # hypotheses of each sentence
    fewer: int = 0  # sentences that have fewer
    fewest: int = 0  # hypotheses of one of them

    def add_results(self, results: Sequence[Sequence[Hypothesis]], wanted: int = 1) -> None:
        """Counts the sentences of a batch, by their best hypotheses, of which some are `wanted`."""
        self.sentences += len(results)
        self.wanted = wanted
        for hypotheses in results:
            if len(hypotheses) < wanted:
                self.fewest = min(self.fewest, len(hypotheses)) if self.fewer else len(hypotheses)
                self.fewer += 1
            self.tokens += len(hypotheses[0].tokens)
            self.charged += hypotheses[0].evaluations.charged
            self.made += hypotheses[0].evaluations.made

    def add_search(self, timing: Timing, needed_bytes: int) -> None:
        """Adds the time and the memory that a search took."""
        self.timing = self.timing or Timing()
        for one in fields(Timing):
            total = getattr(self.timing, one.name) + getattr(timing, one.name)
            setattr(self.timing, one.name, total)
        self.peak_bytes = max(self.peak_bytes, needed_bytes)

    def warnings(self) -> list[str]:
        """What a run must not end without."""
        lines = []
        if self.fewer:
            lines.append(
                f"--nbest {self.wanted}: {self.fewer:,} of {self.sentences:,} sentences have fewer "
                f"hypotheses, one of them {self.fewest}: --search {self.search} met no more "
                "finished sentences"
            )
        if self.failures:
            lines.append(f"{len(self.failures):,} sentences failed:")
        return lines + [f"  sentence {name}: {what}" for name, what in self.failures]

    def summary(self) -> list[str]:
        """The lines that a run ends with."""
        share = f" ({self.made / self.charged:.1%} of it)" if self.charged else ""
        line = (
            f"--search {self.search}: {self.sentences:,} sentences, {self.tokens:,} tokens; "
            f"network evaluations: {self.charged:,} charged, {self.made:,} made{share}"
        )
        timing = self.timing
        if timing is None:
            return [line]
        unused = timing.network_rows - self.made
        if unused:
            line += f", {unused:,} more in advance that were never needed"
        total = self.encoding + timing.network + timing.search + timing.metric
        return [
            line,
            f"time: {total:.1f} s = encoder {self.encoding:.1f} + network "
            f"{timing.network:.1f} ({timing.network_calls:,} calls) + search "
            f"{timing.search:.1f} + metric {timing.metric:.1f} ({timing.metric_rows:,} texts); "
            f"{self.sentences / max(total, 1e-9):.2f} sentences/s; "
            f"peak memory of the search {self.peak_bytes / 2**20:.1f} MiB",
        ]
