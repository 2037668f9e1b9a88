"""What a run of decoding cost: counted per batch, told at the end."""

from dataclasses import dataclass, field

from fairseq_mcts.search.results import Timing


@dataclass
class DecodingStatistics:
    """Sums over all batches of a run."""

    search: str  # the decoder's name, as in --search
    sentences: int = 0
    tokens: int = 0  # of the best hypotheses, eos counted
    charged: int = 0  # network evaluations by the paper's accounting
    made: int = 0  # network evaluations that had to be made
    encoding: float = 0.0  # seconds in the encoders
    timing: Timing = field(default_factory=Timing)  # of everything behind them
    peak_bytes: int = 0  # of keys, values and trees of one batch

    def add(self, timing: Timing) -> None:
        """Adds the timing of one batch."""
        for name, amount in vars(timing).items():
            setattr(self.timing, name, getattr(self.timing, name) + amount)

    def summary(self) -> list[str]:
        """The lines that a run ends with."""
        share = f" ({self.made / self.charged:.1%} of it)" if self.charged else ""
        timing = self.timing
        in_vain = timing.network_rows - self.made
        lines = [
            f"--search {self.search}: {self.sentences:,} sentences, {self.tokens:,} tokens; "
            f"network evaluations: {self.charged:,} charged, {self.made:,} made{share}"
            + (f", {in_vain:,} more in advance and in vain" if in_vain else "")
        ]
        total = self.encoding + timing.network + timing.search + timing.metric
        if total > 0:
            lines.append(
                f"time: {total:.1f} s = encoder {self.encoding:.1f} + network "
                f"{timing.network:.1f} ({timing.network_calls:,} calls) + search "
                f"{timing.search:.1f} + metric {timing.metric:.1f} ({timing.metric_rows:,} texts); "
                f"{self.sentences / total:.2f} sentences/s; "
                f"peak memory of the search {self.peak_bytes / 2**20:.1f} MiB"
            )
        return lines
