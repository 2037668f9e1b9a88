"""How long translations may get."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.generators.search_generator import POSITIONS_BEYOND_LENGTH
from fairseq_mcts.models.network import Network


@dataclass(frozen=True)
class Lengths:
    """At most a · source length + b tokens, eos not counted, as fairseq says, and `most` anyhow."""

    a: float
    b: int
    most: int

    @classmethod
    def of(cls, models: Sequence[Network], a: float, b: int) -> "Lengths":
        """Those of some models: a sample is fed as eos y1 .. yn eos when a value is trained."""
        positions = min(int(model.max_decoder_positions()) for model in models)
        return cls(a, b, max(1, positions - POSITIONS_BEYOND_LENGTH))

    def limit(self, source_length: int) -> int:
        """The greatest length of translations of such a source."""
        limit = min(int(self.a * source_length + self.b), self.most)
        if limit < 1:
            raise ValueError(
                f"--max-len-a {self.a} and --max-len-b {self.b}: allow no token for a source of "
                f"{source_length} tokens"
            )
        return limit
