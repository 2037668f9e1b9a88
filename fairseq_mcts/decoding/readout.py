"""From a network's scores over the vocabulary to the few numbers that a search reads.

On a CPU the search's own compiled kernels read the tensors in place; on another device the same is
done with tensor operations. Both give the same answers (tests/decoding/test_readout.py).
"""

from dataclasses import replace

import numpy as np
from torch import Tensor

from fairseq_mcts.decoding.device_readout import read_on_device
from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.evaluator import (
    EMPTY_NUMBERS,
    EMPTY_ROWS,
    Answers,
    Question,
    Requests,
    SamplingFilter,
)
from fairseq_mcts.search.policy import draw_tokens
from fairseq_mcts.search.read_rows import RowsRead, TokenRules, read_rows
from fairseq_mcts.search.row_sums import Float32
from fairseq_mcts.search.tree import Float64, Int32


def read_policies(
    scores: Tensor,  # [u, V] float32 log-probabilities up to a constant a row, overwritten
    requests: Requests,  # [n] of which u are not finished
    question: Question,
    rules: TokenRules,
) -> Answers:
    """What a search reads of its requests' policies; values are left at zero."""
    if scores.device.type == "cpu":
        return read_on_host(scores, requests, question, rules)
    answers = read_on_device(scores, requests.unfinished(), question, rules)
    return answers.with_finished(requests.finished)


def read_on_host(
    scores: Tensor,  # [u, V] float32, overwritten
    requests: Requests,
    question: Question,
    rules: TokenRules,
) -> Answers:
    """`read_policies` by compiled kernels."""
    count, rows = len(requests), scores.numpy()
    read = RowsRead(
        num_actions=np.zeros(count, np.int32),
        tokens=np.zeros((count, question.actions), np.int32),
        logprobs=np.zeros((count, question.actions), np.float64),
        weights=np.zeros((count, question.actions), np.float64),
        normalisers=np.empty(count, np.float64),
    )
    read_rows(
        rows,
        requests.finished,
        requests.eos_allowed,
        requests.only_token,
        requests.banned_rows,
        requests.banned_tokens,
        rules,
        question.temperature,
        question.over_allowed,
        read,
    )
    return _with_draws(_answers(read), rows, requests, question, read.normalisers)


def _answers(read: RowsRead) -> Answers:
    return Answers(
        num_actions=read.num_actions,
        action_tokens=read.tokens,
        action_logprobs=read.logprobs,
        weights=read.weights,
        values=np.zeros(len(read.num_actions)),
        drawn_tokens=EMPTY_ROWS,
        drawn_logprobs=EMPTY_NUMBERS,
    )


def _with_draws(
    answers: Answers,
    rows: Float32,  # [u, V]
    requests: Requests,
    question: Question,
    normalisers: Float64,  # [n]
) -> Answers:
    """The same answers with what is drawn; finished prefixes have no draws."""
    if not len(requests.draw_rows):
        return answers
    places = (np.cumsum(~requests.finished) - 1).astype(np.int32)[requests.draw_rows]  # in `rows`
    drawn = _draw(rows, places, requests.draw_uniforms, question)
    logprobs = rows[places, drawn].astype(np.float64) - normalisers[requests.draw_rows]
    return replace(answers, drawn_tokens=drawn, drawn_logprobs=logprobs)


def _draw(rows: Float32, places: Int32, uniforms: Float64, question: Question) -> Int32:
    """[d] tokens from these places of the rows, which are -inf where a token is not allowed."""
    draws = (places, uniforms, question.temperature)
    drawing = question.sampling
    if drawing == SamplingFilter():
        return draw_from_scores(rows, *draws)
    return draw_tokens(rows, *draws, drawing.top_k, drawing.top_p, drawing.epsilon)
