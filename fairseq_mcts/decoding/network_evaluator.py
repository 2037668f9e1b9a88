"""fairseq models as the searches' evaluator: policy and value, from one model or several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from fairseq_mcts.decoding.readout import read_policies
from fairseq_mcts.decoding.recomputing_stepper import RecomputingStepper
from fairseq_mcts.decoding.step_batch import MIN_ROWS, StepBatch, make_step_batch
from fairseq_mcts.decoding.stepper import Stepper, TransformerStepper, can_step
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.tree import Bool, Float64, Tree, prefix_tokens


def has_value_head(model: nn.Module) -> bool:
    """Whether a model gives values."""
    return hasattr(model.decoder, "value_head")


@dataclass(frozen=True)
class Vocabulary:
    """What the evaluator has to know of the dictionary."""

    eos: int  # also the decoder's start symbol
    pad: int
    forbidden: tuple[int, ...]  # tokens that are never produced
    penalties: tuple[tuple[int, float], ...] = ()  # (token, what is taken off its log-probability)


class Member:
    """One model of the ensemble, in one of its roles or in both."""

    def __init__(
        self, model: nn.Module, vocabulary: Vocabulary, *, policy: bool, value: bool
    ) -> None:
        self.model = model
        self.policy = policy
        self.value = value
        self.stepper: Stepper = (
            TransformerStepper(model.decoder)
            if can_step(model.decoder)
            else RecomputingStepper(model, vocabulary.eos, vocabulary.pad)
        )

    def logprobs(self, features: Tensor) -> Tensor:
        """[n, C] -> float32 [n, V]."""
        output = self.model.decoder.output_layer(features.unsqueeze(1))
        normalised: Tensor = self.model.get_normalized_probs((output, None), log_probs=True)
        return normalised.squeeze(1).float()

    def values(self, features: Tensor) -> Tensor:
        """[n, C] -> float32 [n]."""
        return self.model.decoder.value_head(features)[1].float()


def make_members(
    policy_models: Sequence[nn.Module],
    value_models: Sequence[nn.Module],
    vocabulary: Vocabulary,
) -> list[Member]:
    """One member a model; a model that is in both lists steps once for both."""
    members = [
        Member(model, vocabulary, policy=True, value=any(model is other for other in value_models))
        for model in policy_models
    ]
    members += [
        Member(model, vocabulary, policy=False, value=True)
        for model in value_models
        if not any(model is other for other in policy_models)
    ]
    return members


class NetworkEvaluator:
    """Evaluates the prefixes of one batch of source sentences.

    Policies of several models are averaged as probabilities, values as they are.
    """

    def __init__(self, members: Sequence[Member], vocabulary: Vocabulary) -> None:
        self._members = members
        self._vocabulary = vocabulary
        parameter = next(members[0].model.parameters())
        self._device, self._dtype = parameter.device, parameter.dtype
        self._forbidden = torch.tensor(
            vocabulary.forbidden, dtype=torch.long, device=self._device
        )

    def begin(self, src_tokens: Tensor, src_lengths: Tensor) -> None:
        """Encodes the sentences [S, T] (padded on the right) for all members, once."""
        for member in self._members:
            encoder_out = member.model.encoder(src_tokens, src_lengths=src_lengths)
            member.stepper.begin(encoder_out)

    @property
    def num_bytes(self) -> int:
        """Memory that grows with the number of remembered prefixes."""
        return sum(member.stepper.num_bytes for member in self._members)

    @torch.no_grad()
    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        batch = make_step_batch(
            tree, requests, self._vocabulary.eos, self._device, self._dtype
        )
        policies: list[Tensor] = []
        values: list[Tensor] = []
        wanted = ~requests.finished
        for member in self._members:
            if not member.policy and not question.value:
                continue
            member.stepper.reserve(len(tree.parent))
            features = member.stepper.step(tree, batch)
            if member.policy and wanted.any():
                policies.append(self._policy(member, features, wanted))
            if member.value and question.value:
                values.append(member.values(features))
        answers = self._read_policies(policies, requests, question, wanted)
        if question.value:
            answers = replace(answers, values=self._read_values(values, batch))
        self._check(tree, requests, question, answers)
        return answers

    def _policy(self, member: Member, features: Tensor, wanted: Bool) -> Tensor:
        """[n, V] log-probabilities; rows that are not wanted repeat others."""
        if wanted.all():
            return member.logprobs(features)[: len(wanted)]
        rows = np.flatnonzero(wanted)
        needed = np.resize(rows, max(len(rows), MIN_ROWS))
        chosen = features[torch.from_numpy(needed).to(features.device)]
        place = np.zeros(len(wanted), np.int64)
        place[rows] = np.arange(len(rows))
        return member.logprobs(chosen)[torch.from_numpy(place).to(features.device)]

    def _read_policies(
        self, policies: list[Tensor], requests: Requests, question: Question, wanted: Bool
    ) -> Answers:
        if not policies:
            return _no_policies(len(requests), question.actions)
        logprobs = policies[0]
        if len(policies) > 1:
            logprobs = torch.logsumexp(torch.stack(policies), dim=0) - np.log(len(policies))
        for token, penalty in self._vocabulary.penalties:
            logprobs[:, token] -= penalty
        return read_policies(
            logprobs, self._forbidden, self._vocabulary.eos, requests, question
        )

    @staticmethod
    def _read_values(values: list[Tensor], batch: StepBatch) -> Float64:
        mean = torch.stack(values).mean(dim=0) if len(values) > 1 else values[0]
        return mean[: batch.num_requested].cpu().numpy().astype(np.float64)

    def _check(
        self, tree: Tree, requests: Requests, question: Question, answers: Answers
    ) -> None:
        """Refuses NaN and dead ends: the search would go on with nonsense."""
        if question.actions:
            blocked = ~requests.finished & (answers.num_actions == 0)
        else:
            blocked = np.zeros(len(requests), np.bool_)
        broken = ~np.isfinite(answers.values)
        broken |= np.isnan(answers.log_weights).any(axis=1)
        for rows, fault in ((broken, "the network returned NaN"), (blocked, "no token is allowed")):
            if rows.any():
                row = np.flatnonzero(rows)[:1]
                prefix = prefix_tokens(tree, requests.slots[row])[0]
                raise ValueError(
                    f"{fault} at sentence {requests.sentences[row][0]} of the batch, "
                    f"prefix {prefix}"
                )


def _no_policies(count: int, actions: int) -> Answers:
    """Answers to requests that are all finished."""
    return Answers(
        num_actions=np.zeros(count, np.int32),
        action_tokens=np.zeros((count, actions), np.int32),
        action_logprobs=np.zeros((count, actions)),
        log_weights=np.zeros((count, actions)),
        values=np.zeros(count),
        drawn_tokens=np.zeros(0, np.int32),
        drawn_logprobs=np.zeros(0),
    )
