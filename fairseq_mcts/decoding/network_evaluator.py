"""fairseq models as the searches' evaluator: policy and value, from one model or several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from fairseq.models import BaseFairseqModel, FairseqDecoder
from fairseq.models.transformer import TransformerModelBase
from numpy.typing import NDArray
from torch import Tensor

from fairseq_mcts.decoding import Network
from fairseq_mcts.decoding.feature_pool import FeaturePool
from fairseq_mcts.decoding.linear import RowFunction, row_linear
from fairseq_mcts.decoding.readout import read_policies
from fairseq_mcts.decoding.recomputing_stepper import RecomputingStepper
from fairseq_mcts.decoding.step_batch import MIN_ROWS, StepBatch, make_step_batch, padded_length
from fairseq_mcts.decoding.stepper import EncoderOut, Stepper, TransformerStepper, can_step
from fairseq_mcts.models.value_head import (
    ValueHead,
    bucket_means,
    expected_value,
    has_value_head,
)
from fairseq_mcts.search.evaluator import Answers, Question, Requests, without_policies
from fairseq_mcts.search.faults import find_fault
from fairseq_mcts.search.read_rows import TokenRules
from fairseq_mcts.search.tree import Bool, Float64, Tree, prefix_tokens

__all__ = [  # the face of this package, for generators and tasks
    "Member",
    "NetworkEvaluator",
    "SearchMemoryError",
    "Vocabulary",
    "has_value_head",
    "make_members",
    "unfinished_rows",
]

# what models do that take a softmax of their decoder's output
_USUAL_PROBABILITIES = (
    BaseFairseqModel.get_normalized_probs,
    TransformerModelBase.get_normalized_probs,
)


class SearchMemoryError(RuntimeError):
    """A batch of sentences needs more memory than it may have."""


@dataclass(frozen=True)
class Vocabulary:
    """What the evaluator has to know of the dictionary."""

    eos: int
    pad: int
    forbidden: tuple[int, ...]  # tokens that are never produced
    penalties: tuple[tuple[int, float], ...] = ()  # (token, what is taken off its log-probability)


class _EncodedGroup(NamedTuple):
    """Sentences that were encoded together."""

    rows: list[int]  # [r] which of the batch they are
    states: Tensor  # [T, r, C]
    is_padding: Tensor  # [r, T]


class Member:
    """One model of the ensemble, in one of its roles or in both."""

    def __init__(
        self, model: Network, vocabulary: Vocabulary, *, policy: bool, value: bool
    ) -> None:
        self.model = model
        self.policy = policy
        self.value = value
        self._pad = vocabulary.pad
        self._steppable = can_step(model.decoder)
        self.stepper: Stepper = (
            TransformerStepper(model.decoder)
            if self._steppable
            else RecomputingStepper(model, vocabulary.pad)
        )
        self.unread = FeaturePool()  # for searches that read policies later
        self._project = row_linear(model.decoder.output_projection) if self._is_plain() else None
        self._value = _value_reader(model.decoder.value_head) if value else None

    def _is_plain(self) -> bool:
        """Whether logits are one linear layer's output, and are normalised as usual."""
        decoder = self.model.decoder
        return (
            self._steppable
            and getattr(decoder, "adaptive_softmax", None) is None
            and type(self.model).get_normalized_probs in _USUAL_PROBABILITIES
            and type(decoder).get_normalized_probs is FairseqDecoder.get_normalized_probs
        )

    @property
    def bytes_per_slot(self) -> int:
        """Memory of one remembered prefix: its keys, values and features."""
        return self.stepper.bytes_per_slot + self.unread.bytes_per_slot

    @property
    def highest_value(self) -> float:
        """No value of this member is greater; infinity where the head does not say."""
        return getattr(self.model.decoder.value_head, "highest_value", np.inf)

    def encode(self, sources: Sequence[Tensor]) -> EncoderOut:
        """The encoder's output for all sentences (of any lengths, unpadded), in their order."""
        if not self._steppable:
            return self._encode_in_order_of_length(sources)
        if sources[0].device.type == "cpu":
            return self._encode_by_length(sources)
        return self._encode_padded(sources, padded_length(max(map(len, sources))))

    def _encode_padded(self, sources: Sequence[Tensor], length: int) -> EncoderOut:
        # fairseq's encoder works on [T, S, C] views, which are contiguous for a single sentence
        # only, and torch then adds biases at another moment: such a batch gets a companion
        sources = sources if len(sources) > 1 else [sources[0], sources[0]]
        tokens, lengths = _right_padded(sources, length, self._pad)
        return self.model.encoder(tokens, src_lengths=lengths)

    def _encode_by_length(self, sources: Sequence[Tensor]) -> EncoderOut:
        """Sentences of nearly the same length in one pass each: nothing is computed of long
        paddings, where the longest sentence of a batch is twice as long as most."""
        lengths = [padded_length(len(source)) for source in sources]
        groups: list[_EncodedGroup] = []
        for length in sorted(set(lengths)):
            rows = [row for row, own in enumerate(lengths) if own == length]
            encoded = self._encode_padded([sources[row] for row in rows], length)
            states = encoded["encoder_out"][0][:, : len(rows)]
            masks = encoded["encoder_padding_mask"] or [states.new_zeros(states.shape[1::-1])]
            groups.append(_EncodedGroup(rows, states, masks[0][: len(rows)].to(torch.bool)))
        longest = max(len(group.states) for group in groups)
        states = groups[0].states.new_zeros(longest, len(sources), groups[0].states.size(-1))
        is_padding = torch.ones(len(sources), longest, dtype=torch.bool)
        for group in groups:
            states[: len(group.states), group.rows] = group.states
            is_padding[group.rows, : len(group.states)] = group.is_padding
        return {"encoder_out": [states], "encoder_padding_mask": [is_padding]}

    def _encode_in_order_of_length(self, sources: Sequence[Tensor]) -> EncoderOut:
        """For encoders of other make, which may want what fairseq's datasets give them (fairseq's
        LSTM does): the longest sentence first, and no padding beyond it."""
        order = sorted(range(len(sources)), key=lambda sentence: -len(sources[sentence]))
        longest = len(sources[order[0]])
        tokens, lengths = _right_padded([sources[one] for one in order], longest, self._pad)
        encoder_out = self.model.encoder(tokens, src_lengths=lengths)
        back = torch.tensor(np.argsort(order), device=tokens.device)
        return self.model.encoder.reorder_encoder_out(encoder_out, back)

    def scores(self, features: Tensor) -> Tensor:
        """[n, C] -> float32 [n, V], log-probabilities up to a constant a row."""
        if self._project is not None:
            return self._project(features).float()
        output = self.model.decoder.output_layer(features.unsqueeze(1))
        normalised: Tensor = self.model.get_normalized_probs((output, None), log_probs=True)
        return normalised.squeeze(1).float()

    def values(self, features: Tensor) -> Tensor:
        """[n, C] -> float32 [n]."""
        assert self._value is not None  # only members with that role are asked
        return self._value(features)


def _value_reader(head: Network) -> RowFunction:
    """[n, C] -> float32 [n], as the value head does it."""
    if type(head) is not ValueHead:
        return lambda features: head(features)[1].float()
    project, means = row_linear(head.projection), bucket_means(head.bucket_edges)
    return lambda features: expected_value(project(features), means)


def make_members(
    policy_models: Sequence[Network],
    value_models: Sequence[Network],
    vocabulary: Vocabulary,
    *,
    separate: bool = False,
) -> list[Member]:
    """One member a model; a model that is in both lists steps once for both roles, unless they
    read different sources and are to be kept `separate`."""
    both = [] if separate else [one for one in policy_models if _is_in(one, value_models)]
    members = [
        Member(model, vocabulary, policy=True, value=_is_in(model, both)) for model in policy_models
    ]
    members += [
        Member(model, vocabulary, policy=False, value=True)
        for model in value_models
        if not _is_in(model, both)
    ]
    return members


def _is_in(model: Network, models: Sequence[Network]) -> bool:
    return any(model is other for other in models)


class NetworkEvaluator:
    """Evaluates the prefixes of one batch of source sentences.

    Policies of several models are averaged as probabilities, values as they are.
    """

    def __init__(
        self,
        members: Sequence[Member],
        vocabulary: Vocabulary,
        *,
        start_token: int | None = None,
        max_bytes: int | None = None,
    ) -> None:
        """`start_token` is what decoding starts with, eos unless given; `max_bytes` bounds the
        memory of remembered prefixes."""
        self._members = members
        self._start_token = vocabulary.eos if start_token is None else start_token
        self._max_bytes = max_bytes
        self._reserved = 0  # bytes that there is room for
        parameter = next(members[0].model.parameters())
        self._device, self._dtype = parameter.device, parameter.dtype
        self._rules = TokenRules(
            eos=vocabulary.eos,
            forbidden=np.array(vocabulary.forbidden, np.int32),
            penalised=np.array([token for token, _ in vocabulary.penalties], np.int32),
            penalties=np.array([penalty for _, penalty in vocabulary.penalties], np.float64),
        )

    @torch.no_grad()
    def begin(
        self, sources: Sequence[Tensor], value_sources: Sequence[Tensor] | None = None
    ) -> None:
        """Encodes the sentences, each a tensor of its tokens, for all members, once.

        Members that give values alone read `value_sources` instead, if they are given.
        """
        of_value = sources if value_sources is None else value_sources
        for member in self._members:
            member.stepper.begin(member.encode(sources if member.policy else of_value))

    @property
    def bytes_per_slot(self) -> int:
        """Memory of one remembered prefix, in all members."""
        return sum(member.bytes_per_slot for member in self._members)

    @property
    def highest_value(self) -> float:
        """No value is greater; infinity if a head's values have no known bound."""
        return float(np.mean([one.highest_value for one in self._members if one.value]))

    @torch.no_grad()
    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        if question.again:
            answers = self._read_again(requests, question)
            self._check(tree, requests, question, answers)
            return answers
        batch = make_step_batch(tree, requests, self._start_token, self._device, self._dtype)
        self._reserve(tree.capacity)
        scores: list[Tensor] = []
        values: list[Tensor] = []
        for member in self._members:
            if not member.policy and not question.value:
                continue
            features = member.stepper.step(tree, batch)
            if member.policy and not question.policy:
                member.unread.write(batch.slots, features, tree.capacity)
            elif member.policy and not requests.finished.all():
                scores.append(member.scores(unfinished_rows(features, requests.finished)))
            if member.value and question.value:
                values.append(member.values(features))
        answers = self._read_policies(scores, requests, question)
        if question.value:
            answers = replace(answers, values=self._read_values(values, batch))
        self._check(tree, requests, question, answers)
        return answers

    def _read_again(self, requests: Requests, question: Question) -> Answers:
        """The policies of prefixes whose features are remembered."""
        slots = torch.from_numpy(_enough_rows(requests.slots.astype(np.int64))).to(self._device)
        policies = [member for member in self._members if member.policy]
        scores = [member.scores(member.unread.read(slots)) for member in policies]
        return self._read_policies(scores, requests, question)

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
            member.stepper.reserve(capacity)
        self._reserved = needed

    def _read_policies(
        self, scores: list[Tensor], requests: Requests, question: Question
    ) -> Answers:
        """`scores` [u or more, V] of each member, of the u requests that are not finished."""
        if not scores:
            columns = question.actions if question.policy else 0
            return without_policies(np.zeros(len(requests)), columns)
        mean = scores[0]
        if len(scores) > 1:
            mean = torch.logsumexp(torch.log_softmax(torch.stack(scores), dim=-1), dim=0)
        unfinished = len(requests) - np.count_nonzero(requests.finished)
        return read_policies(mean[:unfinished], requests, question, self._rules)

    @staticmethod
    def _read_values(values: list[Tensor], batch: StepBatch) -> Float64:
        mean = torch.stack(values).mean(dim=0) if len(values) > 1 else values[0]
        return mean[: batch.num_requested].cpu().numpy().astype(np.float64)

    def _check(self, tree: Tree, requests: Requests, question: Question, answers: Answers) -> None:
        """Refuses NaN and dead ends: the search would go on with nonsense."""
        found = find_fault(
            requests, answers, wants_actions=question.policy and question.actions > 0
        )
        if found is None:
            return
        row, fault = found
        prefix = prefix_tokens(tree, requests.slots[[row]])[0]
        raise ValueError(
            f"{fault} at sentence {requests.sentences[row]} of the batch, prefix {prefix}"
        )


def unfinished_rows(features: Tensor, finished: Bool) -> Tensor:
    """Rows of `features` [n or more, C] that are not `finished` [n]; MIN_ROWS at least."""
    if not finished.any():
        return features
    rows = _enough_rows(np.flatnonzero(~finished))
    return features[torch.from_numpy(rows).to(features.device)]


def _enough_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """These rows [n], some of them again if they are fewer than MIN_ROWS."""
    return rows if len(rows) >= MIN_ROWS else np.resize(rows, MIN_ROWS)


def _right_padded(sources: Sequence[Tensor], length: int, pad: int) -> tuple[Tensor, Tensor]:
    """Tokens [S, length] with the padding behind them, and lengths [S]."""
    tokens = sources[0].new_full((len(sources), length), pad)
    for row, source in enumerate(sources):
        tokens[row, : len(source)] = source
    return tokens, torch.tensor([len(source) for source in sources], device=tokens.device)
