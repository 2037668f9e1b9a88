"""Greedy matching of token vectors: the formula of BERTScore on padded batches."""

from typing import NamedTuple

import torch
from torch import Tensor


class TokenBatch(NamedTuple):
    """One side of a batch of text pairs, padded to its longest text."""

    embeddings: Tensor  # [B, T, D] vectors of length 1
    weights: Tensor  # [B, T] importance of each token; 0 for padding
    mask: Tensor  # [B, T] true for tokens, false for padding


class GreedyMatch(NamedTuple):
    """What greedy matching finds in a batch of pairs."""

    precision: Tensor  # [B]
    recall: Tensor  # [B]
    similarity: Tensor  # [B, T, U] of all tokens, padding too


def greedy_match(hypotheses: TokenBatch, others: TokenBatch) -> GreedyMatch:
    """Precision and recall: each token takes its most similar counterpart.

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
    return GreedyMatch(
        precision.masked_fill(empty, 0.0), recall.masked_fill(empty, 0.0), similarity
    )


def greedy_match_all(hypotheses: TokenBatch, others: TokenBatch) -> tuple[Tensor, Tensor]:
    """Precision and recall [H, R] of each of H texts against each of R; see `greedy_match`."""
    rows, length, width = hypotheses.embeddings.shape
    columns, other_length, _ = others.embeddings.shape
    similarity = hypotheses.embeddings.reshape(-1, width) @ others.embeddings.reshape(-1, width).T
    similarity = similarity.view(rows, length, columns, other_length)
    # padding is as unlike everything as can be: it is never the most similar
    similarity += _minus_infinity(others.mask)  # [R, U]
    best_other = similarity.amax(dim=3)  # [H, T, R]
    similarity += _minus_infinity(hypotheses.mask)[:, :, None, None]
    best_own = similarity.amax(dim=1)  # [H, R, U]
    precision = _weighted_mean(best_other, hypotheses.weights[:, :, None])
    recall = _weighted_mean(best_own.transpose(1, 2), others.weights.T[None])
    is_empty = [one.weights.sum(dim=1) <= 0 for one in (hypotheses, others)]
    empty = is_empty[0][:, None] | is_empty[1]  # [H, R]
    return precision.masked_fill(empty, 0.0), recall.masked_fill(empty, 0.0)


def _minus_infinity(mask: Tensor) -> Tensor:
    """0 where the mask is true, -inf elsewhere."""
    return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, float("-inf"))


def _weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """[B, T, …], [B, T, …] -> [B, …]; positions without weight may hold anything, even -inf."""
    weighted = torch.where(weights > 0, values * weights, 0.0)
    return weighted.sum(dim=1) / weights.sum(dim=1).clamp_min(torch.finfo(weights.dtype).tiny)
