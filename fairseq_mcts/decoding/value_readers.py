"""What reads values off a decoder's features, by the kind of its value head."""

from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from fairseq_mcts.decoding.caution import Moments, bucket_moments, bucket_variance
from fairseq_mcts.decoding.comparing_values import ComparingValues
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.models.comparing_head import ComparingValueHead
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.value_head import ValueHead, bucket_means
from fairseq_mcts.search.tree import Tree


class ValueReader(Protocol):
    """Values of the prefixes of one batch of sentences."""

    def begin(self, encoder_out: EncoderOut) -> None:
        """Starts on the sentences of `encoder_out`; forgets those before."""

    def reserve(self, capacity: int) -> None:
        """Makes room for slots below `capacity`."""

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Moments:
        """Features [n, C] after the last token of each row -> moments of n values.

        Each prefix' parent was read before it.
        """

    @property
    def bytes_per_slot(self) -> int:
        """Memory that each remembered prefix takes."""


class FeatureValues:
    """Values of heads that read the features of a prefix and nothing else."""

    bytes_per_slot = 0

    def __init__(self, head: Network, placement: Placement, *, with_variance: bool) -> None:
        self._read = _row_function(head, placement, with_variance)

    def begin(self, encoder_out: EncoderOut) -> None:
        """The sources are not read."""

    def reserve(self, capacity: int) -> None:
        """Nothing is kept per slot."""

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Moments:
        return self._read(features)


def _row_function(
    head: Network, placement: Placement, with_variance: bool
) -> Callable[[Tensor], Moments]:
    """[n, C] -> moments of n values, as the value head does it."""
    if with_variance and not isinstance(head, ValueHead):
        raise ValueError(
            f"--value-read lower: a value head of type {type(head).__name__} gives values, but no "
            "distribution of them"
        )
    if not isinstance(head, ValueHead):
        return lambda features: Moments(head(features)[1].float(), None)
    means = bucket_means(head.bucket_edges)
    if type(head) is ValueHead:
        project = placement.linear(head.projection)
        return lambda features: bucket_moments(
            project(features), means, with_variance=with_variance
        )

    def of_own_head(features: Tensor) -> Moments:
        logits, value = head(features)
        mean = value.float()
        return Moments(mean, bucket_variance(logits, means, mean) if with_variance else None)

    return of_own_head


def gives_variance(decoder: Network) -> bool:
    """Whether a decoder's value head says how sure it is."""
    return isinstance(decoder.value_head, ValueHead)


def make_value_reader(
    decoder: Network, placement: Placement, *, with_variance: bool
) -> ValueReader:
    """The reader of a decoder's value head."""
    if isinstance(decoder.value_head, ComparingValueHead):
        return ComparingValues(decoder, placement, with_variance=with_variance)
    return FeatureValues(decoder.value_head, placement, with_variance=with_variance)
