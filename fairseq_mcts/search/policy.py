"""From log-probabilities over a vocabulary to what a search reads: best actions and draws.

Compiled, one pass over each row for the best actions and one for the normaliser, with ties broken
by the lower token id throughout.
"""

import math

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.tree import NO_TOKEN, Bool, Float64, Int32

# faults of a row, reported instead of raised: compiled code can't name the sentence
FINE = 0
NOT_FINITE = 1
NOTHING_ALLOWED = 2


@compiled
def ban(weights: Float64, banned_tokens: Int32, start: int, stop: int) -> None:
    """Takes the tokens of banned_tokens[start:stop] out of a row of log-probabilities [V]."""
    for index in range(start, stop):
        weights[banned_tokens[index]] = -math.inf


@compiled
def allowed_logprobs(
    logprobs: Float64,  # [V]
    forbidden: Bool,  # [V]
    only_token: int,
    eos: int,
    eos_allowed: bool,
    row: Float64,  # [V] out: log-probabilities, -inf where a token is not allowed
) -> int:
    """Masks one row; FINE, or the fault that was found."""
    for token in range(len(logprobs)):
        logprob = logprobs[token]
        if only_token != NO_TOKEN:
            keep = token == only_token
        else:
            keep = not forbidden[token] and (token != eos or eos_allowed)
        if keep:
            row[token] = logprob
        else:
            row[token] = -math.inf
        # a forbidden token may have no probability at all, any other must have a finite one
        if not math.isfinite(logprob) and not (forbidden[token] and logprob == -math.inf):
            return NOT_FINITE
    return FINE


@compiled
def best_actions(
    row: Float64,  # [V]
    tokens: Int32,  # [A] out
    logprobs: Float64,  # [A] out
) -> int:
    """The best finite entries of a row, best first, equal ones by token id; how many there are."""
    wanted = len(tokens)
    count = 0
    if wanted == 0:
        return count
    for token in range(len(row)):
        logprob = row[token]
        if logprob == -math.inf or (count == wanted and logprob <= logprobs[count - 1]):
            continue
        if count < wanted:
            count += 1
        place = count - 1
        while place > 0 and logprobs[place - 1] < logprob:
            tokens[place] = tokens[place - 1]
            logprobs[place] = logprobs[place - 1]
            place -= 1
        tokens[place] = token
        logprobs[place] = logprob
    return count


@compiled
def log_normaliser(row: Float64, temperature: float) -> float:
    """log Σ exp(row / temperature) over the finite entries of a row [V]."""
    highest = row.max()
    total = 0.0
    for token in range(len(row)):
        total += math.exp((row[token] - highest) / temperature)
    return highest / temperature + math.log(total)


@compiled
def answer_policies(
    logprobs: Float64,  # [n, V]
    forbidden: Bool,  # [V]
    eos: int,
    finished: Bool,  # [n]
    only_token: Int32,  # [n]
    eos_allowed: Bool,  # [n]
    banned_rows: Int32,  # [m] ascending
    banned_tokens: Int32,  # [m]
    temperature: float,
    over_allowed: bool,
    num_actions: Int32,  # [n] out
    action_tokens: Int32,  # [n, A] out
    action_logprobs: Float64,  # [n, A] out
    log_weights: Float64,  # [n, A] out
    rows: Float64,  # [n, V] out: masked log-probabilities, for draws
) -> tuple[int, int]:
    """Fills the policy part of `Answers`; (FINE, 0) or (a fault, the row that has it)."""
    ban_start = 0
    for index in range(len(logprobs)):
        ban_stop = ban_start
        while ban_stop < len(banned_rows) and banned_rows[ban_stop] == index:
            ban_stop += 1
        num_actions[index] = 0
        if finished[index]:
            ban_start = ban_stop
            continue
        row = rows[index]
        fault = allowed_logprobs(
            logprobs[index], forbidden, only_token[index], eos, eos_allowed[index], row
        )
        if fault != FINE:
            return fault, index
        ban(row, banned_tokens, ban_start, ban_stop)
        ban_start = ban_stop
        if row.max() == -math.inf:
            return NOTHING_ALLOWED, index
        count = best_actions(row, action_tokens[index], action_logprobs[index])
        num_actions[index] = count
        if over_allowed:
            normaliser = log_normaliser(row, temperature)
        elif temperature == 1.0:
            normaliser = 0.0  # the log-probabilities as they were given
        else:
            normaliser = log_normaliser(logprobs[index], temperature)
        for action in range(count):
            log_weights[index, action] = action_logprobs[index, action] / temperature - normaliser
    return FINE, 0


@compiled
def _keep_best(weights: Float64, order: Int32, count: int) -> float:
    """Leaves only the `count` first tokens of `order` in `weights`; their sum."""
    for index in range(count, len(order)):
        weights[order[index]] = 0.0
    return weights.sum()


@compiled
def sampling_weights(
    row: Float64,  # [V] masked log-probabilities
    temperature: float,
    top_k: int,
    top_p: float,
    epsilon: float,
) -> Float64:
    """[V] the probabilities that tokens are drawn with, filtered and renormalised in turn."""
    highest = row.max()
    weights = np.empty(len(row), np.float64)
    for token in range(len(row)):
        weights[token] = math.exp((row[token] - highest) / temperature)
    weights /= weights.sum()
    if 0 < top_k < len(row) or top_p < 1.0:
        # a stable sort of the negated row: best first, equal ones by token id
        order = np.argsort(-row, kind="mergesort").astype(np.int32)
        if 0 < top_k < len(row):
            weights /= _keep_best(weights, order, top_k)
        if top_p < 1.0:
            mass = 0.0
            count = 0
            while count < len(order) and mass < top_p:
                mass += weights[order[count]]
                count += 1
            weights /= _keep_best(weights, order, max(count, 1))
    if epsilon > 0.0:
        best = np.argmax(row)
        for token in range(len(weights)):
            if weights[token] < epsilon and token != best:
                weights[token] = 0.0
        weights /= weights.sum()
    return weights


@compiled
def draw_tokens(
    logprobs: Float64,  # [n, V] the model's own
    rows: Float64,  # [n, V] the same, masked
    draw_rows: Int32,  # [d] ascending
    draw_uniforms: Float64,  # [d]
    temperature: float,
    top_k: int,
    top_p: float,
    epsilon: float,
    drawn_tokens: Int32,  # [d] out
    drawn_logprobs: Float64,  # [d] out
) -> None:
    """Draws by the inverse of the cumulative distribution, in the order of token ids."""
    last_row = -1
    cumulative = np.empty(0, np.float64)
    last_token = 0
    for draw in range(len(draw_rows)):
        row = draw_rows[draw]
        if row != last_row:
            weights = sampling_weights(rows[row], temperature, top_k, top_p, epsilon)
            cumulative = np.cumsum(weights)
            last_token = np.nonzero(weights)[0][-1]
            last_row = row
        target = draw_uniforms[draw] * cumulative[-1]
        token = np.searchsorted(cumulative, target, side="right")
        token = min(token, last_token)  # rounding at the very end of the interval
        drawn_tokens[draw] = token
        drawn_logprobs[draw] = logprobs[row, token]
