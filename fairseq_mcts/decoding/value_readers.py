"""What reads values off a decoder's features, by the kind of its value head."""

from typing import Protocol

from torch import Tensor

from fairseq_mcts.decoding.comparing_values import ComparingValues
from fairseq_mcts.decoding.linear import RowFunction
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.models.comparing_head import ComparingValueHead
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.value_head import ValueHead, bucket_means, expected_value
from fairseq_mcts.search.tree import Tree


class ValueReader(Protocol):
    """Values of the prefixes of one batch of sentences."""

    def begin(self, encoder_out: EncoderOut) -> None:
        """Starts on the sentences of `encoder_out`; forgets those before."""

    def reserve(self, capacity: int) -> None:
        """Makes room for slots below `capacity`."""

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Tensor:
        """Features [n, C] after the last token of each row -> float32 [n].

        Each prefix' parent was read before it.
        """

    @property
    def bytes_per_slot(self) -> int:
        """Memory that each remembered prefix takes."""


class FeatureValues:
    """Values of heads that read the features of a prefix and nothing else."""

    bytes_per_slot = 0

    def __init__(self, head: Network, placement: Placement) -> None:
        self._read = _row_function(head, placement)

    def begin(self, encoder_out: EncoderOut) -> None:
        """The sources are not read."""

    def reserve(self, capacity: int) -> None:
        """Nothing is kept per slot."""

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Tensor:
        return self._read(features)


def _row_function(head: Network, placement: Placement) -> RowFunction:
    """[n, C] -> float32 [n], as the value head does it."""
    if type(head) is not ValueHead:
        return lambda features: head(features)[1].float()
    project, means = placement.linear(head.projection), bucket_means(head.bucket_edges)
    return lambda features: expected_value(project(features), means)


def make_value_reader(decoder: Network, placement: Placement) -> ValueReader:
    """The reader of a decoder's value head."""
    if isinstance(decoder.value_head, ComparingValueHead):
        return ComparingValues(decoder, placement)
    return FeatureValues(decoder.value_head, placement)
