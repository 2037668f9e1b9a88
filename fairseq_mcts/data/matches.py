"""How well each token of source and sample is matched in the other, as numbers of a token file.

They are kept in fairseq's own format, in the place of token ids: one code a token, 0 where the
match is not known.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

UNKNOWN = 0
_STEPS = 1000  # between similarities 0 and 1
CODES = 2 * _STEPS + 2  # UNKNOWN, and similarities from -1 to 1

Codes = npt.NDArray[np.uint16]


class TokenMatches(NamedTuple):
    """Matches of all tokens of R rows, one row after the other."""

    sources: Codes  # [tokens of the sources]
    samples: Codes  # [tokens of the samples]


class MatchFiles(NamedTuple):
    """Matches of a split on disk; each row as long as its sentence."""

    sources: Any  # fairseq's indexed datasets, of codes
    samples: Any


def codes_of(similarities: npt.NDArray[np.float64]) -> Codes:
    """Codes of similarities in [-1, 1]; NaN is not known."""
    codes = np.round((np.clip(similarities, -1.0, 1.0) + 1.0) * _STEPS) + 1
    return np.where(np.isnan(similarities), UNKNOWN, codes).astype(np.uint16)


def similarities_of(codes: Tensor) -> Tensor:
    """float32 of any shape, NaN where the match is not known."""
    similarities = (codes - 1).float() / _STEPS - 1.0
    return similarities.masked_fill(codes == UNKNOWN, torch.nan)


class UnknownMatches:
    """In place of a file, for a part of the data that has none: no token's match is known."""

    def __init__(self, sentences: Any) -> None:
        self._sentences = sentences  # fairseq's indexed dataset

    def __len__(self) -> int:
        return len(self._sentences)

    def __getitem__(self, row: int) -> Tensor:
        return torch.full_like(self._sentences[row], UNKNOWN)
