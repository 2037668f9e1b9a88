"""One model of an ensemble: encodes sources, steps prefixes, reads policies and values off them."""

from collections.abc import Sequence

import numpy as np
from fairseq.models import BaseFairseqModel, FairseqDecoder
from fairseq.models.transformer import TransformerDecoderBase, TransformerModelBase
from torch import Tensor

from fairseq_mcts.decoding.caution import Moments
from fairseq_mcts.decoding.encoding import encode_in_groups, encode_longest_first
from fairseq_mcts.decoding.feature_pool import FeaturePool
from fairseq_mcts.decoding.placement import Placement, placement_of
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.decoding.stepper import TransformerStepper
from fairseq_mcts.decoding.stepper_registry import make_stepper
from fairseq_mcts.decoding.value_readers import make_value_reader
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.search.tree import Tree

# what models do that take a softmax of one linear layer's output
_PLAIN_OUTPUTS = (TransformerDecoderBase.output_layer, MultiQueryTransformerDecoder.output_layer)
_PLAIN_PROBABILITIES = (
    BaseFairseqModel.get_normalized_probs,
    TransformerModelBase.get_normalized_probs,
)


class Member:
    """One model of the ensemble, in one of its roles or in both."""

    def __init__(
        self,
        model: Network,
        vocabulary: Vocabulary,
        *,
        policy: bool,
        value: bool,
        with_variance: bool = False,
        placement: Placement | None = None,
    ) -> None:
        """`placement` is that of the model's parameters unless given; `with_variance`: values are
        read with their variances."""
        self.model = model
        self.policy = policy
        self.value = value
        self.placement = placement or placement_of(model)
        self._pad = vocabulary.pad
        self.stepper = make_stepper(model, vocabulary.pad, self.placement)
        self.unread = FeaturePool()  # for searches that read policies later
        self._project = (
            self.placement.linear(model.decoder.output_projection)
            if isinstance(self.stepper, TransformerStepper) and _has_plain_output(model)
            else None
        )
        self._value = (
            make_value_reader(model.decoder, self.placement, with_variance=with_variance)
            if value
            else None
        )

    @property
    def bytes_per_slot(self) -> int:
        """Memory of one remembered prefix: its keys, values and features."""
        of_value = 0 if self._value is None else self._value.bytes_per_slot
        return self.stepper.bytes_per_slot + self.unread.bytes_per_slot + of_value

    @property
    def highest_value(self) -> float:
        """No value of this member is greater; infinity where the head does not say."""
        return getattr(self.model.decoder.value_head, "highest_value", np.inf)

    def begin(self, sources: Sequence[Tensor]) -> None:
        """Encodes the sentences, each a tensor of its tokens; forgets those before."""
        encoder_out = self.encode(sources)
        self.stepper.begin(encoder_out)
        if self._value is not None:
            self._value.begin(encoder_out)

    def reserve(self, capacity: int) -> None:
        """Makes room for slots below `capacity`."""
        self.stepper.reserve(capacity)
        if self._value is not None:
            self._value.reserve(capacity)

    def encode(self, sources: Sequence[Tensor]) -> EncoderOut:
        """The encoder's output for all sentences (of any lengths, unpadded), in their order."""
        if not isinstance(self.stepper, TransformerStepper):
            return encode_longest_first(self.model.encoder, sources, self._pad)
        groups = self.placement.group_lengths([len(source) for source in sources])
        return encode_in_groups(self.model.encoder, sources, groups, self._pad)

    def scores(self, features: Tensor) -> Tensor:
        """[n, C] -> float32 [n, V], log-probabilities up to a constant a row."""
        if self._project is not None:
            return self._project(features).float()
        output = self.model.decoder.output_layer(features.unsqueeze(1))
        normalised: Tensor = self.model.get_normalized_probs((output, None), log_probs=True)
        return normalised.squeeze(1).float()

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Moments:
        """[n, C] of the rows of `batch` -> moments of n values."""
        assert self._value is not None  # only members with that role are asked
        return self._value.values(features, tree, batch)


def _has_plain_output(model: Network) -> bool:
    """Whether logits are one linear layer's output, and are normalised as usual."""
    decoder = model.decoder
    return (
        type(decoder).output_layer in _PLAIN_OUTPUTS
        and getattr(decoder, "adaptive_softmax", None) is None
        and type(model).get_normalized_probs in _PLAIN_PROBABILITIES
        and type(decoder).get_normalized_probs is FairseqDecoder.get_normalized_probs
    )


def make_members(
    policy_models: Sequence[Network],
    value_models: Sequence[Network],
    vocabulary: Vocabulary,
    *,
    separate: bool = False,
    with_variance: bool = False,
) -> list[Member]:
    """One member a model; a model that is in both lists steps once for both roles, unless they
    read different sources and are to be kept `separate`. `with_variance`: see `Member`."""
    both = [] if separate else [model for model in policy_models if model in value_models]
    roles = [(model, True, model in both) for model in policy_models]
    roles += [(model, False, True) for model in value_models if model not in both]
    return [
        Member(model, vocabulary, policy=policy, value=value, with_variance=with_variance)
        for model, policy, value in roles
    ]
