"""From a network's scores over the vocabulary to the few numbers that a search reads.

In the host's memory compiled kernels read the scores in place. `device_readout` gives the same
answers by tensor operations (tests/decoding/test_readout.py).
"""

import numpy as np
from torch import Tensor

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


def read_on_host(
    scores: Tensor,  # [u, V] float32 log-probabilities up to a constant a row, overwritten
    requests: Requests,  # [n] of which u are not finished
    question: Question,
    rules: TokenRules,
) -> Answers:
    """What a search reads of its requests' policies; values are left at zero."""
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
        question.as_priors,
        read,
    )
    drawn_tokens, drawn_logprobs = _draws(rows, requests, question, read.normalisers)
    return Answers(
        num_actions=read.num_actions,
        action_tokens=read.tokens,
        action_logprobs=read.logprobs,
        weights=read.weights,
        values=np.zeros(count),
        drawn_tokens=drawn_tokens,
        drawn_logprobs=drawn_logprobs,
    )


def _draws(
    rows: Float32,  # [u, V]
    requests: Requests,
    question: Question,
    normalisers: Float64,  # [n]
) -> tuple[Int32, Float64]:
    """[d] drawn tokens and their log-probabilities; finished prefixes have no draws."""
    if not len(requests.draw_rows):
        return EMPTY_ROWS, EMPTY_NUMBERS
    places = (np.cumsum(~requests.finished) - 1).astype(np.int32)[requests.draw_rows]  # in `rows`
    drawn = _draw(rows, places, requests.draw_uniforms, question)
    logprobs = rows[places, drawn].astype(np.float64) - normalisers[requests.draw_rows]
    return drawn, logprobs


def _draw(rows: Float32, places: Int32, uniforms: Float64, question: Question) -> Int32:
    """[d] tokens from these places of the rows, which are -inf where a token is not allowed."""
    draws = (places, uniforms, question.temperature)
    drawing = question.sampling
    if drawing == SamplingFilter():
        return draw_from_scores(rows, *draws)
    return draw_tokens(rows, *draws, drawing.top_k, drawing.top_p, drawing.epsilon)
