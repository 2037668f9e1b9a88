"""How similar each token of a sample is to each of its source, as numbers of a token file.

They are kept in fairseq's own format, in the place of token ids: one code a pair of tokens, 0 where
their similarity is not known.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

UNKNOWN = 0
_STEPS = 1000  # between similarities 0 and 1
CODES = 2 * _STEPS + 2  # UNKNOWN, and similarities from -1 to 1

Codes = npt.NDArray[np.uint16]


def codes_of(similarities: npt.NDArray[np.float64]) -> Codes:
    """Codes of similarities in [-1, 1]; NaN is not known."""
    codes = np.round((np.clip(similarities, -1.0, 1.0) + 1.0) * _STEPS) + 1
    return np.where(np.isnan(similarities), UNKNOWN, codes).astype(np.uint16)


def in_range(codes: Tensor) -> bool:
    """Whether all numbers of a row are codes: a damaged file may hold others."""
    return not codes.numel() or bool((codes.min() >= UNKNOWN) & (codes.max() < CODES))


def similarities_of(codes: Tensor) -> Tensor:
    """float32 of any shape, NaN where they are not known."""
    similarities = (codes - 1).float() / _STEPS - 1.0
    return similarities.masked_fill(codes == UNKNOWN, torch.nan)


class UnknownSimilarities:
    """In place of a file, for a part of the data that has none: nothing is known of any tokens."""

    def __init__(self, sources: Any, samples: Any) -> None:
        self._sources, self._samples = sources, samples  # fairseq's indexed datasets

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, row: int) -> Tensor:
        pairs = len(self._sources[row]) * len(self._samples[row])
        return torch.full((pairs,), UNKNOWN, dtype=torch.int64)
