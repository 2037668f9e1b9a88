"""From a network's scores over the vocabulary to the few numbers that a search reads.

In the host's memory compiled kernels read the scores in place. `device_readout` gives the same
answers by tensor operations (tests/decoding/test_readout.py).
"""

from dataclasses import replace

import numpy as np
from torch import Tensor

from fairseq_mcts.search.draw_distinct import draw_distinct, logprobs_of_draws
from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.evaluator import (
    Answers,
    Question,
    Requests,
    SamplingFilter,
    without_policies,
)
from fairseq_mcts.search.policy import draw_tokens
from fairseq_mcts.search.read_rows import RowsRead, TokenRules, read_rows


def read_on_host(
    scores: Tensor,  # [u, V] float32 log-probabilities up to a constant a row, overwritten
    requests: Requests,  # [n] of which u are not finished
    question: Question,
    rules: TokenRules,
    values: Tensor | None = None,  # [n]
) -> Answers:
    """What a search reads of its requests' policies, beside their values; without these zeros."""
    rows = scores.numpy()
    of_values = np.zeros(len(requests)) if values is None else values.numpy().astype(np.float64)
    answers = without_policies(of_values, question.actions)
    read = RowsRead(
        num_actions=answers.num_actions,
        tokens=answers.action_tokens,
        logprobs=answers.action_logprobs,
        weights=answers.weights,
        normalisers=np.empty(len(requests), np.float64),
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
    if not len(requests.draw_rows):
        return answers
    # where the drawn prefixes are among `rows`; finished ones have no draws
    places = (np.cumsum(~requests.finished) - 1).astype(np.int32)[requests.draw_rows]  # [d]
    draws, kept = (places, requests.draw_uniforms, question.temperature), question.sampling
    if question.distinct:
        drawn, shares, left = draw_distinct(rows, *draws, kept.top_k, kept.top_p, kept.epsilon)
        constants = read.normalisers[requests.draw_rows]
        logprobs = logprobs_of_draws(rows, places, drawn, constants)
        return replace(
            answers,
            drawn_tokens=drawn,
            drawn_logprobs=logprobs,
            drawn_shares=shares,
            drawn_left=left,
        )
    if kept == SamplingFilter():
        drawn = draw_from_scores(rows, *draws)
    else:
        drawn = draw_tokens(rows, *draws, kept.top_k, kept.top_p, kept.epsilon)
    logprobs = rows[places, drawn].astype(np.float64) - read.normalisers[requests.draw_rows]
    return replace(answers, drawn_tokens=drawn, drawn_logprobs=logprobs)
