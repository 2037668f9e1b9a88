"""What a run of decoding cost: counted per batch, reported at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

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

    def add_results(self, results: Sequence[Sequence[Hypothesis]]) -> None:
        """Counts the sentences of a batch, by their best hypotheses."""
        self.sentences += len(results)
        for hypotheses in results:
            self.tokens += len(hypotheses[0].tokens)
            self.charged += hypotheses[0].evaluations.charged
            self.made += hypotheses[0].evaluations.made

    def add_search(self, timing: Timing, needed_bytes: int) -> None:
        """Adds the time and the memory that a search took."""
        self.timing = self.timing or Timing()
        for field in fields(Timing):
            total = getattr(self.timing, field.name) + getattr(timing, field.name)
            setattr(self.timing, field.name, total)
        self.peak_bytes = max(self.peak_bytes, needed_bytes)

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
