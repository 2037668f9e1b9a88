"""What the searches ask of a model, and what they get back.

Every decoder asks one question: what are policy and value after this prefix? An `Evaluator`
answers it for a batch of prefixes of different sentences and different lengths.
"""

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.tree import Bool, Float64, Int32, Tree

EMPTY_ROWS: NDArray[np.int32] = np.zeros(0, np.int32)
EMPTY_NUMBERS: NDArray[np.float64] = np.zeros(0, np.float64)


@dataclass(frozen=True)
class SamplingFilter:
    """Which part of a tempered distribution is drawn from; applied in this order."""

    top_k: int = 0  # only the k most probable tokens; 0: all
    top_p: float = 1.0  # only the smallest set of best tokens whose mass reaches p
    epsilon: float = 0.0  # no token less probable than this, except the best


@dataclass(frozen=True)
class Question:
    """What a search wants to know about a prefix."""

    actions: int  # how many of the best next tokens
    temperature: float = 1.0  # of weights and of draws
    # weights are priors: probabilities, normalised over the tokens allowed after the prefix; or,
    # as in fairseq's beam search, log-probabilities, normalised over the whole vocabulary
    as_priors: bool = True
    value: bool = True  # whether values are read
    # False: policies are read later, of those prefixes that a question with `policy_only` names
    policy: bool = True
    policy_only: bool = False  # about prefixes that are evaluated already, but for their policies
    sampling: SamplingFilter = SamplingFilter()  # for searches that draw tokens
    distinct: bool = False  # no token twice among the draws of a row


@dataclass(frozen=True)
class Requests:
    """n prefixes to be evaluated, each named by its slot in the tree."""

    slots: Int32  # [n]
    sentences: Int32  # [n]
    parents: Int32  # [n] slot of the prefix without its last token (already evaluated)
    tokens: Int32  # [n] the last token; NO_TOKEN stands for the start symbol
    depths: Int32  # [n] number of tokens in the prefix
    finished: Bool  # [n] whether the prefix ends in eos: its policy is not read
    only_token: Int32  # [n] the one token that may follow, NO_TOKEN where the rest decides
    eos_allowed: Bool  # [n]
    banned_rows: Int32  # [m] ascending, with banned_tokens: tokens not allowed after this prefix
    banned_tokens: Int32  # [m]
    draw_rows: Int32  # [d] ascending: rows from whose distribution tokens are drawn
    draw_uniforms: Float64  # [d] one number in [0, 1) a draw

    def __len__(self) -> int:
        return len(self.slots)

    def unfinished(self) -> "Requests":
        """Those whose policy is read, in their order."""
        if not self.finished.any():
            return self
        rows = np.flatnonzero(~self.finished)
        place = (np.cumsum(~self.finished) - 1).astype(np.int32)  # [n]
        of_rows = ("slots", "sentences", "parents", "tokens", "depths", "finished", "only_token")
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in (*of_rows, "eos_allowed")},
            # finished prefixes have neither bans nor draws
            banned_rows=place[self.banned_rows],
            draw_rows=place[self.draw_rows],
        )


@dataclass(frozen=True)
class Answers:
    """What an evaluator says of `Requests`; actions come best first, ties by lower token id."""

    num_actions: Int32  # [n] how many of the A columns are filled; 0 for finished prefixes
    action_tokens: Int32  # [n, A]
    action_logprobs: Float64  # [n, A] the model's own log-probabilities
    weights: Float64  # [n, A] π^(1/τ), normalised as the question says, or its logarithm
    values: Float64  # [n] read only if the question wants them
    drawn_tokens: Int32  # [d]
    drawn_logprobs: Float64  # [d] the model's own log-probabilities
    # of distinct draws, which give NO_TOKEN where no other token is left:
    # [d] their probabilities, tempered and filtered
    drawn_shares: Float64 = field(default_factory=lambda: EMPTY_NUMBERS)
    # [d] that of all tokens that were left for the draw
    drawn_left: Float64 = field(default_factory=lambda: EMPTY_NUMBERS)

    def with_finished(self, finished: Bool) -> "Answers":
        """Answers to requests [n] of which these concern those that are not `finished` [n]."""
        if not finished.any():
            return self
        rows = np.flatnonzero(~finished)
        wider = replace(
            without_policies(np.zeros(len(finished)), self.weights.shape[1]),
            drawn_tokens=self.drawn_tokens,
            drawn_logprobs=self.drawn_logprobs,
            drawn_shares=self.drawn_shares,
            drawn_left=self.drawn_left,
        )
        wider.num_actions[rows] = self.num_actions
        wider.action_tokens[rows] = self.action_tokens
        wider.action_logprobs[rows] = self.action_logprobs
        wider.weights[rows] = self.weights
        wider.values[rows] = self.values
        return wider


def without_policies(values: Float64, actions: int) -> Answers:
    """Answers to requests [n] whose policies are not read: `actions` columns, nothing in them."""
    count = len(values)
    return Answers(
        num_actions=np.zeros(count, np.int32),
        action_tokens=np.zeros((count, actions), np.int32),
        action_logprobs=np.zeros((count, actions)),
        weights=np.zeros((count, actions)),
        values=values,
        drawn_tokens=EMPTY_ROWS,
        drawn_logprobs=EMPTY_NUMBERS,
    )


class Evaluator(Protocol):
    """A model as the searches see it."""

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        """Answers `question` for all requests; parents were evaluated by earlier calls.

        After a question without `policy` the evaluator keeps what it needs to read the policies of
        these prefixes, until their slots are given to others; a question with `policy_only`, the
        same but for `value`, is about some of them.
        """
        ...
