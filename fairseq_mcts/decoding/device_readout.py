"""`host_readout` in tensor operations, for scores that are not in the host's memory.

Only the answers are copied to the host, all of a call at once: every copy waits for the device.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.decoding.step_batch import index_tensor, on_device, places_in_groups
from fairseq_mcts.search.evaluator import (
    Answers,
    Question,
    Requests,
    SamplingFilter,
    without_policies,
)
from fairseq_mcts.search.read_rows import TokenRules
from fairseq_mcts.search.tree import NO_TOKEN, Float64


def read_on_device(
    scores: Tensor,  # [u, V] float32
    requests: Requests,
    question: Question,
    rules: TokenRules,
    values: Tensor | None = None,  # [n]
) -> Answers:
    """`host_readout.read_on_host` by tensor operations."""
    finished, requests = requests.finished, requests.unfinished()
    logprobs = torch.log_softmax(scores, dim=-1)
    for token, penalty in zip(rules.penalised.tolist(), rules.penalties.tolist(), strict=True):
        logprobs[:, token] -= penalty
    temperature = question.temperature
    log_priors: Tensor | None = None  # [u, V] log-probabilities at the temperature
    if not question.as_priors and temperature != 1.0:
        log_priors = torch.log_softmax(logprobs / temperature, dim=-1)
    rows = mask_rows(logprobs, rules, requests)
    if question.as_priors and question.actions:
        scaled = rows if temperature == 1.0 else rows / temperature
        log_priors = torch.log_softmax(scaled, dim=-1)
    if log_priors is None:
        log_priors = rows

    none = scores.new_empty(0)
    best, drawn = best_on_device(rows, log_priors, question.actions), none
    if len(requests.draw_rows):
        draw = draw_distinct_on_device if question.distinct else draw_on_device
        drawn = draw(rows, requests, temperature, question.sampling)
    # in all but rare cases the one transfer
    best_found, drawn_found, values_found = fetched(best, drawn, none if values is None else values)
    answers = _actions(rows, log_priors, best_found, question.actions)
    if question.as_priors:
        np.exp(answers.weights, out=answers.weights)
    # 0 after the last action; a row without any action would be NaN
    answers.weights[np.arange(question.actions) >= answers.num_actions[:, None]] = 0.0
    if len(requests.draw_rows):
        names = ("drawn_logprobs", "drawn_shares", "drawn_left")
        columns = [column.copy() for column in drawn_found.T]
        numbers = dict(zip(names, columns[1:], strict=False))
        answers = replace(answers, drawn_tokens=columns[0].astype(np.int32), **numbers)
    answers = answers.with_finished(finished)
    return answers if values is None else replace(answers, values=values_found)


def fetched(*parts: Tensor) -> list[Float64]:
    """The same on the host, in float64, by one transfer."""
    flat = torch.cat([part.flatten().double() for part in parts]).cpu().numpy()
    ends = np.cumsum([part.numel() for part in parts])[:-1]
    return [one.reshape(part.shape) for one, part in zip(np.split(flat, ends), parts, strict=True)]


def mask_rows(
    logprobs: Tensor,  # [n, V], overwritten
    rules: TokenRules,
    requests: Requests,
) -> Tensor:
    """The same rows with -inf for what may not follow the requested prefixes."""
    device = logprobs.device
    single = np.flatnonzero(requests.only_token != NO_TOKEN)
    if len(single):
        rows = index_tensor(single, device)
        tokens = index_tensor(requests.only_token[single], device)
        kept = logprobs[rows, tokens]
    forbidden = index_tensor(rules.forbidden, device)
    logprobs.index_fill_(1, forbidden, -torch.inf)
    early = np.flatnonzero(~requests.eos_allowed)
    if len(early):
        logprobs[index_tensor(early, device), rules.eos] = -torch.inf
    if len(requests.banned_rows):
        banned = (requests.banned_rows, requests.banned_tokens)
        logprobs[tuple(index_tensor(one, device) for one in banned)] = -torch.inf
    if len(single):
        logprobs[rows] = -torch.inf
        logprobs[rows, tokens] = kept
    return logprobs


def best_on_device(
    rows: Tensor,  # [n, V]
    log_priors: Tensor,  # [n, V]
    actions: int,
) -> Tensor:
    """[n, 3 A + 1] of the A best tokens of each row: their entries in `rows` and in `log_priors`,
    the tokens themselves, and whether others are equal to the last of them."""
    width = min(actions, rows.size(1))
    if width == 0:  # a search that only draws
        return rows.new_zeros((len(rows), 1))
    best, tokens = rows.topk(width, dim=-1)
    # topk leaves the order of equal entries open: sort them by token id, then stably by value
    by_token = tokens.argsort(dim=-1)
    best, tokens = best.gather(1, by_token), tokens.gather(1, by_token)
    tokens = tokens.gather(1, best.argsort(dim=-1, descending=True, stable=True))
    is_tied = (rows >= best.amin(dim=-1, keepdim=True)).sum(dim=-1, keepdim=True) > width
    return _side_by_side(rows, log_priors, tokens, is_tied)


def _actions(
    rows: Tensor,  # [n, V]
    log_priors: Tensor,  # [n, V]
    found: Float64,  # [n, 3 A + 1] of `best_on_device`, overwritten
    actions: int,
) -> Answers:
    """The actions of each row, with their entries in `rows` as log-probabilities and those in
    `log_priors` as weights."""
    answers = without_policies(np.zeros(len(found)), actions)
    width = found.shape[1] // 3
    if width == 0:
        return answers
    # topk leaves open which of the entries equal to the last one it takes: such rows are sorted
    # whole
    tied = np.flatnonzero((found[:, -1] > 0) & np.isfinite(found[:, :width]).all(axis=1))
    if len(tied):
        places = index_tensor(tied, rows.device)
        tied_rows, tied_priors = rows[places], log_priors[places]
        order = tied_rows.argsort(dim=-1, descending=True, stable=True)[:, :width]
        [found[tied]] = fetched(_side_by_side(tied_rows, tied_priors, order, order[:, :1]))

    allowed = ~np.isneginf(found[:, :width])  # NaN stays, to be found by the evaluator
    answers.num_actions[:] = allowed.sum(axis=1)
    parts = [np.where(allowed, part, 0.0) for part in np.hsplit(found[:, :-1], 3)]
    answers.action_logprobs[:, :width], answers.weights[:, :width] = parts[:2]
    answers.action_tokens[:, :width] = parts[2]
    return answers


def _side_by_side(
    rows: Tensor,  # [n, V]
    log_priors: Tensor,  # [n, V]
    tokens: Tensor,  # [n, A]
    flags: Tensor,  # [n, 1]
) -> Tensor:
    """[n, 3 A + 1] the tokens' entries in both, the tokens themselves, the flags."""
    parts = [rows.gather(1, tokens), log_priors.gather(1, tokens), tokens, flags]
    return torch.cat([part.double() for part in parts], dim=1)


def draw_on_device(
    rows: Tensor,  # [n, V]
    requests: Requests,
    temperature: float,
    drawing: SamplingFilter,
) -> Tensor:
    """[d, 2] tokens drawn from the tempered and filtered distributions of the rows, and their
    entries."""
    present, place, counts = np.unique(requests.draw_rows, return_inverse=True, return_counts=True)
    chosen = rows[index_tensor(present, rows.device)].double()
    weights = filtered_probabilities(chosen, temperature, drawing)
    cumulative = weights.cumsum(dim=-1)  # [p, V]
    # the draws of a row side by side: a copy of its sums for each draw could fill the memory
    column = places_in_groups(place, counts)
    uniforms = np.zeros((len(present), counts.max()))
    uniforms[place, column] = requests.draw_uniforms
    targets = on_device(uniforms, rows.device) * cumulative[:, -1:]  # [p, c]
    tokens = torch.searchsorted(cumulative, targets, right=True)
    # rounding at the very end of the interval
    last = (cumulative < cumulative[:, -1:]).sum(dim=-1, keepdim=True)
    at = (index_tensor(one, rows.device) for one in (place, column))
    drawn = torch.minimum(tokens, last)[tuple(at)]  # [d]
    entries = rows[index_tensor(requests.draw_rows, rows.device), drawn]
    return torch.stack([drawn.double(), entries.double()], dim=1)


def draw_distinct_on_device(
    rows: Tensor,  # [n, V]
    requests: Requests,
    temperature: float,
    drawing: SamplingFilter,
) -> Tensor:
    """`search.draw_distinct` by tensor operations: [d, 4] token, entry, share, what was left."""
    present, place, counts = np.unique(requests.draw_rows, return_inverse=True, return_counts=True)
    chosen = rows[index_tensor(present, rows.device)].double()  # [p, V]
    weights = filtered_probabilities(chosen, temperature, drawing)
    column = places_in_groups(place, counts)
    uniforms = np.zeros((len(present), counts.max()))
    uniforms[place, column] = requests.draw_uniforms
    numbers = on_device(uniforms, rows.device)
    parts: list[Tensor] = []  # one a draw: [p, 4] token, entry, share, what was left
    for draw in range(int(counts.max())):
        cumulative = weights.cumsum(dim=-1)  # [p, V]
        left = cumulative[:, -1:]
        tokens = torch.searchsorted(cumulative, numbers[:, draw, None] * left, right=True)
        # rounding at the very end of the interval
        tokens = torch.minimum(tokens, (cumulative < left).sum(dim=-1, keepdim=True))
        shares = weights.gather(1, tokens)
        is_drawn = left > 0  # neither used up nor NaN
        entries = chosen.gather(1, tokens)
        nothing = chosen.amax(dim=-1, keepdim=True) if draw == 0 else torch.zeros_like(entries)
        parts.append(
            torch.cat(
                [
                    tokens.double().where(is_drawn, float(NO_TOKEN)),
                    entries.where(is_drawn, nothing),
                    shares.where(is_drawn, 0.0),
                    left.where(is_drawn, 0.0),
                ],
                dim=1,
            )
        )
        weights.scatter_(1, tokens, 0.0)
    at = (index_tensor(one, rows.device) for one in (place, column))
    return torch.stack(parts, dim=1)[tuple(at)]


def filtered_probabilities(
    logprobs: Tensor,  # [p, V]
    temperature: float,
    drawing: SamplingFilter,
) -> Tensor:
    """[p, V] probabilities at the temperature of the tokens that the filter leaves."""
    weights = torch.softmax(logprobs / temperature, dim=-1)
    has_top_k = 0 < drawing.top_k < logprobs.size(1)
    if has_top_k or drawing.top_p < 1.0:
        order = logprobs.argsort(dim=-1, descending=True, stable=True)
        weights = weights.gather(1, order)
        if has_top_k:
            weights[:, drawing.top_k :] = 0.0
            weights /= weights.sum(dim=-1, keepdim=True)
        if drawing.top_p < 1.0:
            # the mass before each token; the same sums as the compiled kernel's
            before = torch.nn.functional.pad(weights.cumsum(dim=-1)[:, :-1], (1, 0))
            weights[before >= drawing.top_p] = 0.0
            weights /= weights.sum(dim=-1, keepdim=True)
        weights = torch.zeros_like(weights).scatter_(1, order, weights)
    if drawing.epsilon > 0.0:
        is_small = weights < drawing.epsilon
        is_small.scatter_(1, logprobs.argmax(dim=-1, keepdim=True), False)
        weights[is_small] = 0.0
        weights /= weights.sum(dim=-1, keepdim=True)
    return weights
