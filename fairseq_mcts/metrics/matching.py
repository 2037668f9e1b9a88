"""Greedy matching of token vectors: the formula of BERTScore on padded batches."""

from typing import NamedTuple

import torch
from torch import Tensor


class TokenBatch(NamedTuple):
    """One side of a batch of text pairs, padded to its longest text."""

    embeddings: Tensor  # [B, T, D] vectors of length 1
    weights: Tensor  # [B, T] importance of each token; 0 for padding
    mask: Tensor  # [B, T] true for tokens, false for padding


def greedy_match(hypotheses: TokenBatch, others: TokenBatch) -> tuple[Tensor, Tensor]:
    """Precision and recall [B]: each token takes its most similar counterpart.

    Padding never takes part. (bert-score lets it in with similarity 0, so that there a token with
    no positive similarity at all scores differently according to its neighbours in the batch.)
    Texts whose tokens all weigh nothing, empty ones above all, get 0.
    """
    similarity = torch.bmm(hypotheses.embeddings, others.embeddings.transpose(1, 2))  # [B, T, U]
    nothing = float("-inf")
    best_other = similarity.masked_fill(~others.mask[:, None, :], nothing).amax(dim=2)  # [B, T]
    best_own = similarity.masked_fill(~hypotheses.mask[:, :, None], nothing).amax(dim=1)  # [B, U]
    precision = _weighted_mean(best_other, hypotheses.weights)
    recall = _weighted_mean(best_own, others.weights)
    empty = (hypotheses.weights.sum(dim=1) <= 0) | (others.weights.sum(dim=1) <= 0)  # [B]
    return precision.masked_fill(empty, 0.0), recall.masked_fill(empty, 0.0)


def _weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """[B, T], [B, T] -> [B]; positions without weight may hold anything, even infinities."""
    weighted = torch.where(weights > 0, values * weights, 0.0)
    return weighted.sum(dim=1) / weights.sum(dim=1).clamp_min(torch.finfo(weights.dtype).tiny)
