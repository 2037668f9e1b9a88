"""What decoding has to know of the target dictionary."""

from dataclasses import dataclass

import numpy as np

from fairseq_mcts.search.read_rows import TokenRules


@dataclass(frozen=True)
class Vocabulary:
    """Special tokens, and rules for others."""

    eos: int
    pad: int
    forbidden: tuple[int, ...]  # tokens that are never produced
    penalties: tuple[tuple[int, float], ...] = ()  # (token, what is taken off its log-probability)

    def token_rules(self) -> TokenRules:
        """As the readout of policies takes them."""
        return TokenRules(
            eos=self.eos,
            forbidden=np.array(self.forbidden, np.int32),
            penalised=np.array([token for token, _ in self.penalties], np.int32),
            penalties=np.array([penalty for _, penalty in self.penalties], np.float64),
        )
