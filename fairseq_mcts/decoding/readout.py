"""From a network's scores over the vocabulary to the few numbers that a search reads.

On a CPU the search's own compiled kernels read the tensors in place; on another device the same is
done with tensor operations. Both give the same answers (tests/decoding/test_readout.py).
"""

import numpy as np
from torch import Tensor

from fairseq_mcts.decoding.device_readout import read_on_device
from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.evaluator import Answers, Question, Requests, SamplingFilter
from fairseq_mcts.search.policy import draw_tokens
from fairseq_mcts.search.read_rows import RowsRead, TokenRules, read_rows
from fairseq_mcts.search.row_sums import Float32
from fairseq_mcts.search.tree import Int32


def read_policies(
    scores: Tensor,  # [n, V] float32 log-probabilities up to a constant a row, overwritten
    requests: Requests,  # none of them finished
    question: Question,
    rules: TokenRules,
) -> Answers:
    """What a search reads of its requests' policies; values are left at zero."""
    if scores.device.type == "cpu":
        return read_on_host(scores, requests, question, rules)
    return read_on_device(scores, requests, question, rules)


def read_on_host(
    scores: Tensor,  # [n, V] float32, overwritten
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
        requests.eos_allowed,
        requests.only_token,
        requests.banned_rows,
        requests.banned_tokens,
        rules,
        question.temperature,
        question.over_allowed,
        read,
    )
    drawn = _draw(rows, requests, question)
    drawn_scores = rows[requests.draw_rows, drawn].astype(np.float64)
    return Answers(
        num_actions=read.num_actions,
        action_tokens=read.tokens,
        action_logprobs=read.logprobs,
        weights=read.weights,
        values=np.zeros(count),
        drawn_tokens=drawn,
        drawn_logprobs=drawn_scores - read.normalisers[requests.draw_rows],
    )


def _draw(rows: Float32, requests: Requests, question: Question) -> Int32:
    """[d] tokens from the rows [n, V], which are -inf where a token is not allowed."""
    draws = (requests.draw_rows, requests.draw_uniforms, question.temperature)
    drawing = question.sampling
    if drawing == SamplingFilter():
        return draw_from_scores(rows, *draws)
    return draw_tokens(rows, *draws, drawing.top_k, drawing.top_p, drawing.epsilon)
