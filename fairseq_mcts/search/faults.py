"""What a search must not go on with: NaN, and prefixes after which nothing may follow."""

import math
from collections.abc import Mapping

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.evaluator import Answers, Requests
from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.tree import Bool, Float64, Int32

NONE = -1


class FaultySentenceError(ValueError):
    """Sentences of a batch that can't be searched on; the others are sound.

    `reasons` tells by the sentence's place in the batch what is wrong; none: it is not known which.
    """

    def __init__(self, reasons: Mapping[int, str], message: str | None = None) -> None:
        first = next(iter(reasons.items()), None)
        of_first = "" if first is None else f"{first[1]} (sentence {first[0]} of the batch)"
        super().__init__(of_first if message is None else message)
        self.reasons = dict(reasons)
        #: of these sentences the best finished one that the search had met, if any
        self.best_so_far: dict[int, Hypothesis] = {}


def find_faults(
    requests: Requests, answers: Answers, *, wants_actions: bool
) -> list[tuple[int, str]]:
    """The requests that are answered with NaN or an infinite value, or that are not finished but
    lack the actions or the draws they should have; and what the matter is."""
    broken = _first_broken(
        answers.values,
        answers.action_logprobs,
        answers.weights,
        requests.draw_rows,
        answers.drawn_logprobs,
    )
    if broken != NONE:
        return _broken_rows(requests, answers)
    blocked = _first_blocked(
        requests.finished,
        answers.num_actions,
        requests.draw_rows,
        answers.drawn_logprobs,
        wants_actions,
    )
    return [] if blocked == NONE else _blocked_rows(requests, answers, wants_actions)


def _broken_rows(requests: Requests, answers: Answers) -> list[tuple[int, str]]:
    """All rows with NaN; slowly, for it is the end of their sentences."""
    of_value = ~np.isfinite(answers.values)  # [n]
    of_policy: Bool = np.asarray(np.isnan(answers.action_logprobs + answers.weights).any(axis=1))
    of_policy[requests.draw_rows[np.isnan(answers.drawn_logprobs)]] = True
    return [
        (row, _broken_part(float(answers.values[row]), bool(of_value[row]), bool(of_policy[row])))
        for row in np.flatnonzero(of_value | of_policy).tolist()
    ]


def _broken_part(value: float, of_value: bool, of_policy: bool) -> str:
    parts = ["policy holds NaN"] if of_policy else []
    parts += [f"value is {value}"] if of_value else []
    return f"the network's {' and its '.join(parts)}"


def _blocked_rows(
    requests: Requests, answers: Answers, wants_actions: bool
) -> list[tuple[int, str]]:
    blocked = ~requests.finished & (answers.num_actions == 0) & wants_actions  # [n]
    blocked[requests.draw_rows[np.isneginf(answers.drawn_logprobs)]] = True
    return [(row, "no token is allowed") for row in np.flatnonzero(blocked).tolist()]


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
