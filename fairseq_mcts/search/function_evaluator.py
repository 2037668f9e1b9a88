"""Any model as an `Evaluator`: a plain function from prefixes to log-probabilities and values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairseq_mcts.search.constraints import Constraints
from fairseq_mcts.search.evaluator import Answers, Question, Requests, SamplingFilter
from fairseq_mcts.search.policy import FINE, NOT_FINITE, answer_policies, draw_tokens
from fairseq_mcts.search.tree import Bool, Float64, Tree, prefix_tokens

# (sentences, prefixes) -> (log-probabilities [n, V], values [n])
EvaluateFunction = Callable[[list[int], list[tuple[int, ...]]], tuple[Any, Any]]


class FunctionEvaluator:
    """Turns requests into prefixes, asks the function, checks and condenses what it returns."""

    def __init__(self, evaluate: EvaluateFunction, constraints: Constraints) -> None:
        self._evaluate = evaluate
        self._constraints = constraints
        self._forbidden: Bool | None = None  # [V], once the vocabulary's size is known

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        sentences = requests.sentences.tolist()
        prefixes = prefix_tokens(tree, requests.slots)
        logprobs, values = self._ask(sentences, prefixes, question.value)
        forbidden = self._forbidden_mask(logprobs.shape[1])
        answers, masked = condense_policies(
            logprobs, forbidden, values, self._constraints.eos, requests, question, prefixes
        )
        if question.value:
            check_values(values, sentences, prefixes)
        if len(requests.draw_rows):
            draw(logprobs, masked, requests, question, answers)
        return answers

    def _ask(
        self, sentences: list[int], prefixes: list[tuple[int, ...]], with_values: bool
    ) -> tuple[Float64, Float64]:
        answer = self._evaluate(sentences, prefixes)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(
                "evaluate must return a tuple (logprobs [n, V], values [n]), "
                f"returned {type(answer).__name__} (asked first for sentence {sentences[0]})"
            )
        logprobs = np.ascontiguousarray(answer[0], np.float64)
        count = len(sentences)
        if logprobs.ndim != 2 or len(logprobs) != count or logprobs.shape[1] == 0:
            raise ValueError(
                f"evaluate returned log-probabilities of shape {logprobs.shape} for {count} "
                f"prefixes, expected ({count}, V) (the first is of sentence {sentences[0]})"
            )
        if not with_values:
            return logprobs, np.zeros(count)
        values = np.asarray(answer[1], np.float64)
        if values.shape != (count,):
            raise ValueError(
                f"evaluate returned values of shape {values.shape} for {count} prefixes, "
                f"expected ({count},) (the first is of sentence {sentences[0]})"
            )
        return logprobs, values

    def _forbidden_mask(self, vocabulary: int) -> Bool:
        if self._forbidden is None:
            rules = self._constraints
            self._forbidden = forbidden_mask(rules, vocabulary)
        elif len(self._forbidden) != vocabulary:
            raise ValueError(
                f"evaluate returned log-probabilities over {vocabulary} tokens, "
                f"over {len(self._forbidden)} before"
            )
        return self._forbidden


def forbidden_mask(rules: Constraints, vocabulary: int) -> Bool:
    """[V] which tokens are never produced; refuses rules that name tokens beyond the vocabulary."""
    named = {"eos": [rules.eos], "forbidden": rules.forbidden, "prefixes": rules.forced.ravel()}
    for option, tokens in named.items():
        for token in tokens:
            if token >= vocabulary:
                raise ValueError(f"{option}: token {token} is not one of the {vocabulary} known")
    mask = np.zeros(vocabulary, np.bool_)
    mask[list(rules.forbidden)] = True
    return mask


def condense_policies(
    logprobs: Float64,  # [n, V]
    forbidden: Bool,  # [V]
    values: Float64,  # [n]
    eos: int,
    requests: Requests,
    question: Question,
    prefixes: Sequence[tuple[int, ...]],
) -> tuple[Answers, Float64]:
    """`Answers` without draws yet, and the masked log-probabilities [n, V] to draw from."""
    count, actions = len(requests), question.actions
    answers = Answers(
        num_actions=np.empty(count, np.int32),
        action_tokens=np.empty((count, actions), np.int32),
        action_logprobs=np.empty((count, actions), np.float64),
        log_weights=np.zeros((count, actions), np.float64),
        values=values,
        drawn_tokens=np.empty(len(requests.draw_rows), np.int32),
        drawn_logprobs=np.empty(len(requests.draw_rows), np.float64),
    )
    masked = np.empty_like(logprobs)
    fault, row = answer_policies(
        logprobs,
        forbidden,
        eos,
        requests.finished,
        requests.only_token,
        requests.eos_allowed,
        requests.banned_rows,
        requests.banned_tokens,
        question.temperature,
        question.over_allowed,
        answers.num_actions,
        answers.action_tokens,
        answers.action_logprobs,
        answers.log_weights,
        masked,
    )
    if fault != FINE:
        where = f"sentence {requests.sentences[row]}, prefix {prefixes[row]}"
        if fault == NOT_FINITE:
            raise ValueError(f"NaN or infinite log-probability at {where}")
        raise ValueError(f"no token is allowed at {where}: the masks leave an empty vocabulary")
    return answers, masked


def check_values(
    values: Float64, sentences: Sequence[int], prefixes: Sequence[tuple[int, ...]]
) -> None:
    """Refuses values that are NaN or infinite, by name."""
    broken = np.flatnonzero(~np.isfinite(values))
    if len(broken):
        row = int(broken[0])
        raise ValueError(
            f"NaN or infinite value ({values[row]}) at sentence {sentences[row]}, "
            f"prefix {prefixes[row]}"
        )


def draw(
    logprobs: Float64, masked: Float64, requests: Requests, question: Question, answers: Answers
) -> None:
    """Fills the drawn tokens of `answers`."""
    chosen = question.sampling or SamplingFilter()
    draw_tokens(
        logprobs,
        masked,
        requests.draw_rows,
        requests.draw_uniforms,
        question.temperature,
        chosen.top_k,
        chosen.top_p,
        chosen.epsilon,
        answers.drawn_tokens,
        answers.drawn_logprobs,
    )
