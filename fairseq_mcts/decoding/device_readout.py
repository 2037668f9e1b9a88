"""`host_readout` in tensor operations, for scores that are not in the host's memory.

Only the answers are copied to the host.
"""

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.decoding.step_batch import index_tensor, places_in_groups
from fairseq_mcts.search.evaluator import Answers, Question, Requests, SamplingFilter
from fairseq_mcts.search.read_rows import TokenRules
from fairseq_mcts.search.tree import NO_TOKEN, Float64, Int32


def read_on_device(
    scores: Tensor,  # [u, V] float32
    requests: Requests,
    question: Question,
    rules: TokenRules,
) -> Answers:
    """`host_readout.read_on_host` by tensor operations."""
    finished, requests = requests.finished, requests.unfinished()
    logprobs = torch.log_softmax(scores, dim=-1)
    for token, penalty in zip(rules.penalised.tolist(), rules.penalties.tolist(), strict=True):
        logprobs[:, token] -= penalty
    temperature = question.temperature
    tempered: Tensor | None = None  # [u, V] log-probabilities at the temperature
    if not question.over_allowed and temperature != 1.0:
        tempered = torch.log_softmax(logprobs / temperature, dim=-1)
    rows = mask_rows(logprobs, rules, requests)
    if question.over_allowed and question.actions:
        scaled = rows if temperature == 1.0 else rows / temperature
        tempered = torch.log_softmax(scaled, dim=-1)

    weighed = rows if tempered is None else tempered
    counts, tokens, action_logprobs, weights = best_on_device(rows, weighed, question.actions)
    if question.over_allowed:
        weights = np.exp(weights)
    # what lies behind the last action is nothing, and nothing over nothing is no number
    weights[np.arange(question.actions) >= counts[:, None]] = 0.0
    draws = (requests.draw_rows, requests.draw_uniforms)
    drawn = draw_on_device(rows, *draws, temperature, question.sampling)
    return Answers(
        num_actions=counts,
        action_tokens=tokens,
        action_logprobs=action_logprobs,
        weights=weights,
        values=np.zeros(len(requests)),
        drawn_tokens=drawn,
        drawn_logprobs=_entries(rows, requests.draw_rows, drawn),
    ).with_finished(finished)


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
        banned = (
            index_tensor(requests.banned_rows, device),
            index_tensor(requests.banned_tokens, device),
        )
        logprobs[banned] = -torch.inf
    if len(single):
        logprobs[rows] = -torch.inf
        logprobs[rows, tokens] = kept
    return logprobs


def best_on_device(
    rows: Tensor,  # [n, V]
    weighed: Tensor,  # [n, V]
    actions: int,
) -> tuple[Int32, Int32, Float64, Float64]:
    """Per row: how many actions there are, their tokens [n, A], and their entries [n, A] in `rows`
    and in `weighed`."""
    width = min(actions, rows.size(1))
    if width == 0:  # a search that only draws
        shape = (len(rows), actions)
        counts = np.zeros(len(rows), np.int32)
        return counts, np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape)
    best, tokens = rows.topk(width, dim=-1)
    # topk leaves the order of equal entries open: sort them by token id, then stably by value
    by_token = tokens.argsort(dim=-1)
    best, tokens = best.gather(1, by_token), tokens.gather(1, by_token)
    tokens = tokens.gather(1, best.argsort(dim=-1, descending=True, stable=True))
    # and which of several entries that equal the last one it takes: rows with more are sorted whole
    crowded = (rows >= best.amin(dim=-1, keepdim=True)).sum(dim=-1, keepdim=True) > width
    found = _fetched(rows, weighed, tokens, crowded)  # in all but rare cases the one transfer
    again = np.flatnonzero((found[:, -1] > 0) & np.isfinite(found[:, :width]).all(axis=1))
    if len(again):
        places = index_tensor(again, rows.device)
        crowd, of_crowd = rows[places], weighed[places]
        order = crowd.argsort(dim=-1, descending=True, stable=True)[:, :width]
        found[again] = _fetched(crowd, of_crowd, order, crowded[places])

    allowed = ~np.isneginf(found[:, :width])  # NaN stays, to be found by the evaluator
    in_rows, in_weighed, ids = (np.zeros((len(rows), actions), np.float64) for _ in range(3))
    for column, whole in enumerate((in_rows, in_weighed, ids)):
        part = found[:, column * width : (column + 1) * width]
        whole[:, :width] = np.where(allowed, part, 0.0)
    return allowed.sum(axis=1).astype(np.int32), ids.astype(np.int32), in_rows, in_weighed


def _fetched(
    rows: Tensor,  # [n, V]
    weighed: Tensor,  # [n, V]
    tokens: Tensor,  # [n, A]
    flags: Tensor,  # [n, 1]
) -> Float64:
    """[n, 3 A + 1] on the host: the tokens' entries in both, the tokens themselves, the flags."""
    parts = [rows.gather(1, tokens), weighed.gather(1, tokens), tokens, flags]
    return torch.cat([part.double() for part in parts], dim=1).cpu().numpy()


def draw_on_device(
    rows: Tensor,
    draw_rows: Int32,
    draw_uniforms: Float64,
    temperature: float,
    drawing: SamplingFilter,
) -> Int32:
    """[d] tokens drawn from the tempered and filtered distributions of the rows."""
    if len(draw_rows) == 0:
        return np.zeros(0, np.int32)
    present, place, counts = np.unique(draw_rows, return_inverse=True, return_counts=True)
    chosen = rows[index_tensor(present, rows.device)].double()
    weights = torch.softmax(chosen / temperature, dim=-1)  # [p, V]
    if 0 < drawing.top_k < rows.size(1) or drawing.top_p < 1.0:
        order = chosen.argsort(dim=-1, descending=True, stable=True)
        weights = weights.gather(1, order)
        if 0 < drawing.top_k < rows.size(1):
            weights[:, drawing.top_k :] = 0.0
            weights /= weights.sum(dim=-1, keepdim=True)
        if drawing.top_p < 1.0:
            # the mass in front of each token; the same sums as the compiled kernel's
            before = torch.nn.functional.pad(weights.cumsum(dim=-1)[:, :-1], (1, 0))
            weights[before >= drawing.top_p] = 0.0
            weights /= weights.sum(dim=-1, keepdim=True)
        weights = torch.zeros_like(weights).scatter_(1, order, weights)
    if drawing.epsilon > 0.0:
        small = weights < drawing.epsilon
        small.scatter_(1, chosen.argmax(dim=-1, keepdim=True), False)
        weights[small] = 0.0
        weights /= weights.sum(dim=-1, keepdim=True)
    cumulative = weights.cumsum(dim=-1)  # [p, V]
    # the draws of a row side by side: a copy of its sums for each draw could fill the memory
    column = places_in_groups(place, counts)
    uniforms = np.zeros((len(present), counts.max()))
    uniforms[place, column] = draw_uniforms
    targets = torch.from_numpy(uniforms).to(rows.device) * cumulative[:, -1:]  # [p, c]
    tokens = torch.searchsorted(cumulative, targets, right=True)
    # rounding at the very end of the interval
    last = (cumulative < cumulative[:, -1:]).sum(dim=-1, keepdim=True)
    drawn: Int32 = torch.minimum(tokens, last).int().cpu().numpy()
    return drawn[place, column]


def _entries(rows: Tensor, row_numbers: Int32, tokens: Int32) -> Float64:
    if len(row_numbers) == 0:
        return np.zeros(0, np.float64)
    index = (
        index_tensor(row_numbers, rows.device),
        index_tensor(tokens, rows.device),
    )
    return rows[index].cpu().numpy().astype(np.float64)
