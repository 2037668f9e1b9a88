"""The losses of policy and value as pure functions: sums over the positions that count."""

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_mcts.models.value_head import hl_gauss_target, target_bucket


def policy_nll(
    logprobs: Tensor,  # float32 [B, T, V]
    target: Tensor,  # [B, T]
    counted: Tensor,  # bool [B, T]
    label_smoothing: float = 0.0,
) -> Tensor:
    """Negative log-likelihood of the target tokens, smoothed towards the uniform distribution."""
    likely = -logprobs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    if label_smoothing > 0.0:
        likely = (1.0 - label_smoothing) * likely - label_smoothing * logprobs.mean(dim=-1)
    return likely[counted].sum()


def policy_kl(
    logprobs: Tensor,  # float32 [B, T, V]
    teacher_logprobs: Tensor,  # float32 [B, T, V]
    counted: Tensor,  # bool [B, T]
    *,
    from_teacher: bool,
) -> Tensor:
    """KL(π ‖ π_sup), the paper's direction; or KL(π_sup ‖ π) with `from_teacher`."""
    left, right = (teacher_logprobs, logprobs) if from_teacher else (logprobs, teacher_logprobs)
    divergence = (left.exp() * (left - right)).sum(dim=-1)
    return divergence[counted].sum()


def value_cross_entropy(
    logits: Tensor,  # [B, T, K]
    scores: Tensor,  # [B]
    edges: Tensor,  # [K + 1] of the buckets
    weights: Tensor,  # float [B, T] of the positions, 0 where none is to be learned
    hl_gauss_sigma: float | None = None,
) -> Tensor:
    """Weighted cross-entropy of the sentence's score at each position: its bucket, or soft
    targets."""
    counted = weights > 0
    wanted = logits[counted].float()  # [P, K]
    scores = scores.unsqueeze(1).expand(counted.shape)[counted]  # [P]
    if hl_gauss_sigma is None:
        each = F.cross_entropy(wanted, target_bucket(scores, edges), reduction="none")
    else:
        target = hl_gauss_target(scores, edges, hl_gauss_sigma)
        each = -(target * torch.log_softmax(wanted, dim=-1)).sum(dim=-1)
    return (each * weights[counted]).sum()


def error_within_sources(
    values: Tensor,  # float32 [B, T]
    scores: Tensor,  # [B]
    weights: Tensor,  # float32 [B, T] of the positions
    source_of_row: Tensor,  # [B] in 0 .. G - 1
) -> Tensor:
    """Weighted squares of what values err by, less the mean error at the positions of the same
    source: whether a source is hard does not count, which of its prefixes is better does."""
    errors = values - scores.to(values).unsqueeze(1)  # [B, T]
    sources = int(source_of_row.max()) + 1
    empty = errors.new_zeros(sources)
    total = empty.index_add(0, source_of_row, (errors * weights).sum(dim=1))
    weight = empty.index_add(0, source_of_row, weights.sum(dim=1))
    mean = total / weight.clamp_min(torch.finfo(weight.dtype).tiny)
    return (weights * (errors - mean[source_of_row].unsqueeze(1)).square()).sum()


def match_error(similarities: Tensor, wanted: Tensor) -> Tensor:
    """Mean-square errors of similarities [B, T, S] where it is known what they should be, NaN
    elsewhere: of all pairs, and of the best match of each sample token and of each source token.
    A best match is taken among all, as values read it: what is not known must not be above it."""
    known = ~wanted.isnan()
    found = similarities.float()
    least = wanted.float().masked_fill(~known, -torch.inf)
    error = _mean_square(found, least, known)
    for side in (1, 2):
        error = error + _mean_square(found.amax(side), least.amax(side), known.any(side))
    return error


def _mean_square(found: Tensor, wanted: Tensor, counted: Tensor) -> Tensor:
    """Of the counted elements, bool, of the same shape."""
    squares = (found[counted] - wanted[counted]).square()
    return squares.sum() / counted.sum().clamp_min(1)


def feature_distance(features: Tensor, other: Tensor, counted: Tensor) -> Tensor:
    """Mean-square distance of [B, T, C] and [B, T, C] at the counted positions, bool [B, T],
    without any gradient into `other`."""
    squares = (features.float() - other.detach().float()).pow(2).mean(dim=-1)
    return squares[counted].sum()


def from_first(counted: Tensor, first: Tensor) -> Tensor:
    """bool [B, T]: those of the counted positions that have read at least `first` [B] tokens."""
    positions = torch.arange(counted.shape[1], device=counted.device)
    return counted & (positions >= first.unsqueeze(1))


def last_positions(counted: Tensor) -> Tensor:
    """bool [B, T]: only the last of each row's counted positions."""
    following = F.pad(counted[:, 1:], (0, 1), value=False)
    return counted & ~following
