"""What a search must not go on with: NaN, and prefixes after which nothing may follow."""

import math

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.evaluator import Answers, Requests
from fairseq_mcts.search.tree import Bool, Float64, Int32

NONE = -1


def find_fault(
    requests: Requests, answers: Answers, *, wants_actions: bool
) -> tuple[int, str] | None:
    """The first request that is answered with NaN or an infinite value, else the first one that is
    not finished but lacks the actions or the draws it should have; and what the matter is."""
    broken = _first_broken(
        answers.values,
        answers.action_logprobs,
        answers.weights,
        requests.draw_rows,
        answers.drawn_logprobs,
    )
    if broken != NONE:
        return broken, "the network returned NaN"
    blocked = _first_blocked(
        requests.finished,
        answers.num_actions,
        requests.draw_rows,
        answers.drawn_logprobs,
        wants_actions,
    )
    return None if blocked == NONE else (blocked, "no token is allowed")


@compiled
def _first_broken(
    values: Float64,  # [n]
    logprobs: Float64,  # [n, A]
    weights: Float64,  # [n, A]
    draw_rows: Int32,  # [d] ascending
    drawn_logprobs: Float64,  # [d]
) -> int:
    draw = 0
    for row in range(len(values)):
        broken = not math.isfinite(values[row])
        for action in range(logprobs.shape[1]):
            broken |= math.isnan(logprobs[row, action]) or math.isnan(weights[row, action])
        while draw < len(draw_rows) and draw_rows[draw] == row:
            broken |= math.isnan(drawn_logprobs[draw])
            draw += 1
        if broken:
            return row
    return NONE


@compiled
def _first_blocked(
    finished: Bool,  # [n]
    num_actions: Int32,  # [n]
    draw_rows: Int32,  # [d] ascending
    drawn_logprobs: Float64,  # [d]
    wants_actions: bool,
) -> int:
    draw = 0
    for row in range(len(finished)):
        blocked = wants_actions and not finished[row] and num_actions[row] == 0
        while draw < len(draw_rows) and draw_rows[draw] == row:
            blocked |= drawn_logprobs[draw] == -math.inf
            draw += 1
        if blocked:
            return row
    return NONE
