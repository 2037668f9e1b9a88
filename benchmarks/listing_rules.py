"""What the listing's searches have in common: which tokens may follow, and what they return."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Rules:
    """The same rules as this project's searches have."""

    eos: int
    pad: int
    min_len: int  # tokens before eos
    max_len: int

    def forbid(
        self,
        scores: Tensor,  # [n, V] logits or log-probabilities, overwritten
        depths: Tensor,  # [n] tokens of each prefix
    ) -> Tensor:
        """The same rows with -inf for what may not follow: padding, eos too early, all but eos."""
        scores[:, self.pad] = -torch.inf
        scores[depths < self.min_len, self.eos] = -torch.inf
        only_eos = torch.full_like(scores[0], -torch.inf)
        only_eos[self.eos] = 0.0
        at_limit = depths >= self.max_len
        # eos keeps its log-probability, which is part of a beam's score
        scores[at_limit] = only_eos + scores[at_limit, self.eos, None]
        return scores


@dataclass(frozen=True)
class Decoded:
    """What the listing's way of a search gives."""

    outputs: list[tuple[int, ...]]  # tokens of each sentence, eos included
    rows: int  # given to the network
    rows_in_vain: int  # of these, rows of what was finished already: the price of lock-step
