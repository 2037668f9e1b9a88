"""fairseq models as the searches' evaluator: policy and value, from one model or several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairseq_mcts.decoding.caution import Moments, read_deviations, read_values
from fairseq_mcts.decoding.deviations import Deviations
from fairseq_mcts.decoding.member import Member
from fairseq_mcts.decoding.step_batch import MIN_ROWS, index_tensor, make_step_batch
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.search.evaluator import Answers, Question, Requests, without_policies
from fairseq_mcts.search.faults import FaultySentenceError, find_faults
from fairseq_mcts.search.tree import Bool, Tree, prefix_tokens


class SearchMemoryError(RuntimeError):
    """A batch of sentences needs more memory than it may have."""


class NetworkEvaluator:
    """Evaluates the prefixes of one batch of source sentences.

    Policies of several models are averaged as probabilities, values as they are; see `caution` for
    values below their means.
    """

    def __init__(
        self,
        members: Sequence[Member],
        vocabulary: Vocabulary,
        *,
        start_token: int | None = None,
        max_bytes: int | None = None,
        caution: float = 0.0,
        deviations: Deviations | None = None,
    ) -> None:
        """`start_token` is what decoding starts with, eos unless given; `max_bytes` bounds the
        memory of remembered prefixes. Values are read `caution` standard deviations below their
        means, for which the members must be made `with_variance`; if they are, `deviations` hears
        of their standard deviations."""
        self._members = members
        self._start_token = vocabulary.eos if start_token is None else start_token
        self._max_bytes = max_bytes
        self._caution = caution
        self._deviations = deviations
        self._reserved = 0  # bytes that there is room for
        self._placement = members[0].placement
        self._rules = vocabulary.token_rules()

    @torch.no_grad()
    def begin(
        self, sources: Sequence[Tensor], value_sources: Sequence[Tensor] | None = None
    ) -> None:
        """Encodes the sentences, each a tensor of its tokens, for all members, once.

        Members that give values alone read `value_sources` instead, if they are given.
        """
        of_value = sources if value_sources is None else value_sources
        for member in self._members:
            member.begin(sources if member.policy else of_value)

    @property
    def bytes_per_slot(self) -> int:
        """Memory of one remembered prefix, in all members."""
        return sum(member.bytes_per_slot for member in self._members)

    @property
    def highest_value(self) -> float:
        """No value is greater, however it is read; infinity if a head's have no known bound."""
        return float(np.mean([one.highest_value for one in self._members if one.value]))

    @torch.no_grad()
    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        if question.policy_only:
            answers = self._read_again(requests, question)
        else:
            answers = self._step(tree, requests, question)
        self._check(tree, requests, question, answers)
        return answers

    def _step(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        """Policies and values of prefixes that were not evaluated before."""
        device, dtype = self._placement.device, self._placement.dtype
        batch = make_step_batch(tree, requests, self._start_token, device, dtype)
        self._reserve(tree.capacity)
        scores: list[Tensor] = []
        values: list[Moments] = []
        for member in self._members:
            if not member.policy and not question.value:
                continue
            features = member.stepper.step(tree, batch)
            if member.policy and not question.policy:
                member.unread.write(batch.slots, features, tree.capacity)
            elif member.policy and not requests.finished.all():
                scores.append(member.scores(unfinished_rows(features, requests.finished)))
            if member.value and question.value:
                values.append(member.values(features, tree, batch))
        read = None
        if question.value:
            read = read_values(values, self._caution)[: batch.num_requested]
            self._note_deviations(requests, values)
        return self._read_policies(scores, requests, question, read)

    def _note_deviations(self, requests: Requests, values: Sequence[Moments]) -> None:
        if self._deviations is None or any(one.variance is None for one in values):
            return
        read = read_deviations(values)[: len(requests)]
        self._deviations.write(requests.slots, read.cpu().numpy())

    def _read_again(self, requests: Requests, question: Question) -> Answers:
        """The policies of prefixes whose features are remembered."""
        slots = index_tensor(_enough_rows(requests.slots), self._placement.device)
        policies = [member for member in self._members if member.policy]
        scores = [member.scores(member.unread.read(slots)) for member in policies]
        return self._read_policies(scores, requests, question, None)

    def _reserve(self, capacity: int) -> None:
        needed = capacity * self.bytes_per_slot
        if needed <= self._reserved:
            return
        if self._max_bytes is not None and needed > self._max_bytes:
            raise SearchMemoryError(
                f"what is remembered of {capacity} prefixes needs {needed:,} bytes, "
                f"more than the {self._max_bytes:,} allowed"
            )
        for member in self._members:
            member.reserve(capacity)
        self._reserved = needed

    def _read_policies(
        self, scores: list[Tensor], requests: Requests, question: Question, values: Tensor | None
    ) -> Answers:
        """`scores` [u or more, V] of each member, of the u requests that are not finished; with
        the `values` [n] of all, so that both are copied from a device at once."""
        if not scores:
            columns = question.actions if question.policy else 0
            none = np.zeros(len(requests))
            read = none if values is None else values.cpu().numpy().astype(np.float64)
            return without_policies(read, columns)
        mean = scores[0]
        if len(scores) > 1:
            mean = torch.logsumexp(torch.log_softmax(torch.stack(scores), dim=-1), dim=0)
        unfinished = len(requests) - np.count_nonzero(requests.finished)
        of_unfinished = mean[:unfinished]
        return self._placement.read_policies(of_unfinished, requests, question, self._rules, values)

    def _check(self, tree: Tree, requests: Requests, question: Question, answers: Answers) -> None:
        """Refuses NaN and dead ends: the search would go on with nonsense."""
        wants_actions = question.policy and question.actions > 0
        faults = find_faults(requests, answers, wants_actions=wants_actions)
        if faults:
            prefixes = prefix_tokens(tree, requests.slots[[row for row, _ in faults]])
            reasons: dict[int, str] = {}
            for (row, fault), prefix in zip(faults, prefixes, strict=True):
                reasons.setdefault(int(requests.sentences[row]), f"{fault} after {list(prefix)}")
            raise FaultySentenceError(reasons)


def unfinished_rows(features: Tensor, finished: Bool) -> Tensor:
    """Rows of `features` [n or more, C] that are not `finished` [n]; MIN_ROWS at least."""
    if not finished.any():
        return features
    return features[index_tensor(_enough_rows(np.flatnonzero(~finished)), features.device)]


def _enough_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """These rows [n], some of them again if they are fewer than MIN_ROWS."""
    return rows if len(rows) >= MIN_ROWS else np.resize(rows, MIN_ROWS)
