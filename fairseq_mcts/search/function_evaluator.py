"""Any model as an `Evaluator`: a plain function from prefixes to log-probabilities and values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairseq_mcts.search.constraints import Constraints
from fairseq_mcts.search.draw_distinct import draw_distinct, logprobs_of_draws
from fairseq_mcts.search.evaluator import (
    EMPTY_NUMBERS,
    EMPTY_ROWS,
    Answers,
    Question,
    Requests,
    without_policies,
)
from fairseq_mcts.search.policy import best_actions, draw_tokens, masked_rows, normalisers
from fairseq_mcts.search.tree import Bool, Float64, Tree, prefix_tokens

# (sentences, prefixes) -> (log-probabilities [n, V], values [n])
EvaluateFunction = Callable[[list[int], list[tuple[int, ...]]], tuple[Any, Any]]


class FunctionEvaluator:
    """Turns requests into prefixes, asks the function, checks and condenses what it returns."""

    def __init__(self, evaluate: EvaluateFunction, constraints: Constraints) -> None:
        self._evaluate = evaluate
        self._constraints = constraints
        self._forbidden: Bool | None = None  # [V], once the vocabulary's size is known
        # policies that may be read by a later question, as `_policy_rows`, by slot
        self._unread: dict[int, tuple[Any, ...]] = {}

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        if question.policy_only:
            kept = [self._unread.pop(slot) for slot in requests.slots.tolist()]
            return _answers_from_rows(kept)
        answers = self._evaluate_whole(tree, requests, question)
        if question.policy:
            return answers
        self._unread.update(zip(requests.slots.tolist(), _policy_rows(answers), strict=True))
        return without_policies(answers.values, 0)

    def _evaluate_whole(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        """Policies and values at once, as the function gives them."""
        logprobs, values = self._ask(tree, requests, question)
        rows = masked_rows(
            logprobs, self._forbidden_mask(logprobs.shape[1]), self._constraints.eos, requests
        )
        blocked = ~requests.finished & np.isneginf(rows.max(axis=1))
        if blocked.any():
            row = int(np.flatnonzero(blocked)[0])
            prefixes = prefix_tokens(tree, requests.slots)
            where = _where(row, requests.sentences.tolist(), prefixes)
            raise ValueError(f"no token is allowed at {where}: the masks leave nothing over")
        return condensed(logprobs, rows, values, requests, question)

    def _ask(self, tree: Tree, requests: Requests, question: Question) -> tuple[Float64, Float64]:
        """Log-probabilities [n, V] and values [n] from the function, checked."""
        sentences = requests.sentences.tolist()
        prefixes = prefix_tokens(tree, requests.slots)
        answer = self._evaluate(sentences, prefixes)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(
                "evaluate must return a tuple (logprobs [n, V], values [n]), "
                f"returned {type(answer).__name__}; asked first for sentence {sentences[0]}"
            )
        logprobs = self._checked_logprobs(answer[0], requests, prefixes)
        values = np.zeros(len(requests))
        if question.value:
            values = _checked_values(answer[1], sentences, prefixes)
        return logprobs, values

    def _checked_logprobs(
        self, given: Any, requests: Requests, prefixes: list[tuple[int, ...]]
    ) -> Float64:
        logprobs = np.ascontiguousarray(given, np.float64)
        sentences = requests.sentences.tolist()
        count = len(sentences)
        if logprobs.ndim != 2 or len(logprobs) != count or logprobs.shape[1] == 0:
            raise ValueError(
                f"evaluate returned log-probabilities of shape {logprobs.shape} for {count} "
                f"prefixes, expected ({count}, V); the first is of sentence {sentences[0]}"
            )
        forbidden = self._forbidden_mask(logprobs.shape[1])
        # a forbidden token may have no probability at all, any other must have a finite one
        broken = ~np.isfinite(logprobs) & ~(forbidden & np.isneginf(logprobs))
        broken &= ~requests.finished[:, None]
        if broken.any():
            row, token = np.argwhere(broken)[0].tolist()
            raise ValueError(
                f"NaN or infinite log-probability ({logprobs[row, token]}) of token {token} at "
                f"{_where(row, sentences, prefixes)}"
            )
        return logprobs

    def _forbidden_mask(self, vocabulary: int) -> Bool:
        if self._forbidden is None:
            self._forbidden = forbidden_mask(self._constraints, vocabulary)
        elif len(self._forbidden) != vocabulary:
            raise ValueError(
                f"evaluate returned log-probabilities over {vocabulary} tokens, "
                f"over {len(self._forbidden)} before"
            )
        return self._forbidden


def forbidden_mask(rules: Constraints, vocabulary: int) -> Bool:
    """[V] which tokens are never produced; refuses rules that name tokens beyond the vocabulary."""
    named: dict[str, Iterable[int]] = {"eos": [rules.eos], "forbidden": rules.forbidden}
    for sentence, prefix in enumerate(rules.forced.tolist()):
        named[f"prefixes[{sentence}]"] = prefix
    for option, tokens in named.items():
        for token in tokens:
            if token >= vocabulary:
                raise ValueError(f"{option}: token {token} is not one of the {vocabulary} known")
    mask = np.zeros(vocabulary, np.bool_)
    mask[list(rules.forbidden)] = True
    return mask


def condensed(
    logprobs: Float64,  # [n, V]
    rows: Float64,  # [n, V] the same, masked
    values: Float64,  # [n]
    requests: Requests,
    question: Question,
) -> Answers:
    """The answers that a search reads."""
    count, temperature = len(requests), question.temperature
    open_rows = ~requests.finished
    num_actions = np.empty(count, np.int32)
    tokens = np.zeros((count, question.actions), np.int32)
    action_logprobs = np.zeros((count, question.actions), np.float64)
    best_actions(rows, open_rows, num_actions, tokens, action_logprobs)
    weights = _weights(logprobs, rows, action_logprobs, open_rows, question)
    answers = Answers(
        num_actions=num_actions,
        action_tokens=tokens,
        action_logprobs=action_logprobs,
        weights=weights,
        values=values,
        drawn_tokens=EMPTY_ROWS,
        drawn_logprobs=EMPTY_NUMBERS,
    )
    drawing = question.sampling
    draws = (rows, requests.draw_rows, requests.draw_uniforms, temperature)
    if question.distinct:
        drawn, shares, left = draw_distinct(*draws, drawing.top_k, drawing.top_p, drawing.epsilon)
        return replace(
            answers,
            drawn_tokens=drawn,
            drawn_logprobs=logprobs_of_draws(rows, requests.draw_rows, drawn),
            drawn_shares=shares,
            drawn_left=left,
        )
    drawn = draw_tokens(*draws, drawing.top_k, drawing.top_p, drawing.epsilon)
    found = logprobs[requests.draw_rows, drawn]
    return replace(answers, drawn_tokens=drawn, drawn_logprobs=found)


def _policy_rows(answers: Answers) -> Iterable[tuple[Any, ...]]:
    """[n] what they say of each policy."""
    return zip(
        answers.num_actions,
        answers.action_tokens,
        answers.action_logprobs,
        answers.weights,
        strict=True,
    )


def _answers_from_rows(rows: Sequence[tuple[Any, ...]]) -> Answers:
    """The way back."""
    num_actions, tokens, logprobs, weights = map(np.stack, zip(*rows, strict=True))
    return replace(
        without_policies(np.zeros(len(rows)), 0),
        num_actions=num_actions,
        action_tokens=tokens,
        action_logprobs=logprobs,
        weights=weights,
    )


def _weights(
    logprobs: Float64,  # [n, V]
    rows: Float64,  # [n, V] the same, masked
    action_logprobs: Float64,  # [n, A]
    open_rows: Bool,  # [n]
    question: Question,
) -> Float64:
    """[n, A] what a search goes by; see `Question.as_priors`."""
    temperature = question.temperature
    if question.as_priors:
        # divided as probabilities: logarithms would round a uniform prior of 1/8 to something else
        greatest, sums = normalisers(rows, open_rows, temperature)
        # places without an action hold 0, which is more than the greatest: their power may overflow
        differences = np.minimum(action_logprobs - greatest[:, None], 0.0)
        return np.exp(differences / temperature) / sums[:, None]
    if temperature == 1.0:
        return action_logprobs  # as they were given
    greatest, sums = normalisers(logprobs, open_rows, temperature)
    return (action_logprobs - greatest[:, None]) / temperature - np.log(sums)[:, None]


def _checked_values(given: Any, sentences: list[int], prefixes: list[tuple[int, ...]]) -> Float64:
    values = np.asarray(given, np.float64)
    if values.shape != (len(sentences),):
        raise ValueError(
            f"evaluate returned values of shape {values.shape} for {len(sentences)} prefixes, "
            f"expected ({len(sentences)},); the first is of sentence {sentences[0]}"
        )
    broken = np.flatnonzero(~np.isfinite(values))
    if len(broken):
        row = int(broken[0])
        where = _where(row, sentences, prefixes)
        raise ValueError(f"NaN or infinite value ({values[row]}) at {where}")
    return values


def _where(row: int, sentences: list[int], prefixes: list[tuple[int, ...]]) -> str:
    return f"sentence {sentences[row]}, prefix {prefixes[row]}"
