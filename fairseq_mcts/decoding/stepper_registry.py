"""Which stepper computes a decoder: a registered one, the transformers' or the slow one for all."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from fairseq.models.transformer import TransformerDecoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor

from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.recomputing_stepper import RecomputingStepper
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.decoding.stepper import TransformerStepper
from fairseq_mcts.models.multiquery_attention import MultiQueryAttention
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.multiquery_layers import MultiQueryDecoderLayer
from fairseq_mcts.models.network import Network
from fairseq_mcts.search.tree import Tree


class Stepper(Protocol):
    """Computes what a decoder's heads read."""

    def begin(self, encoder_out: EncoderOut) -> None:
        """Starts on the sentences of `encoder_out`; forgets those before."""

    def reserve(self, capacity: int) -> None:
        """Makes room for slots below `capacity`."""

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        """[n, C] features after the last token of each row."""

    @property
    def bytes_per_slot(self) -> int:
        """Memory that each remembered prefix takes."""


StepperFactory = Callable[[Network, Placement], Stepper]
Factory = TypeVar("Factory", bound=StepperFactory)

_FACTORIES: dict[type, StepperFactory] = {}


def register_stepper(decoder_class: type) -> Callable[[Factory], Factory]:
    """Class decorator: step decoders of just this class, `Stepper(decoder, placement)`.

    Subclasses may compute something else, so each has to be registered for itself. The last
    registration counts.
    """

    def register(factory: Factory) -> Factory:
        _FACTORIES[decoder_class] = factory
        return factory

    return register


def make_stepper(model: Network, pad: int, placement: Placement) -> Stepper:
    """The fastest stepper that computes what the model's decoder does."""
    decoder = model.decoder
    factory = _FACTORIES.get(type(decoder))
    if factory is None and can_step(decoder):
        factory = TransformerStepper
    return RecomputingStepper(model, pad) if factory is None else factory(decoder, placement)


def can_step(decoder: Network) -> bool:
    """Whether `TransformerStepper` computes just the features that this decoder does.

    A subclass with a forward pass of its own, or an option that the stepper does not know, makes
    that impossible to tell.
    """
    if isinstance(decoder, TransformerDecoderBase):
        steps = ("forward", "extract_features", "extract_features_scriptable")
        return (
            _computes_as(decoder, TransformerDecoderBase, *steps)
            and not decoder.cross_self_attention
            and all(_is_known_layer(layer) for layer in decoder.layers)
        )
    known = _computes_as(decoder, MultiQueryTransformerDecoder, "forward", "extract_features")
    return known and all(_is_known_multiquery_layer(layer) for layer in decoder.layers)


def _computes_as(module: Network, known: type, *methods: str) -> bool:
    """Whether a module has these methods of the `known` class, and not its own ones."""
    return isinstance(module, known) and all(
        getattr(type(module), name) is getattr(known, name) for name in methods
    )


def _is_known_layer(layer: Network) -> bool:
    return (
        _computes_as(layer, TransformerDecoderLayerBase, "forward", "residual_connection")
        and layer.encoder_attn is not None
        and all(
            _computes_as(attention, MultiheadAttention, "forward")
            and attention.bias_k is None
            and not attention.add_zero_attn
            and not attention.use_xformers
            for attention in (layer.self_attn, layer.encoder_attn)
        )
    )


def _is_known_multiquery_layer(layer: Network) -> bool:
    return _computes_as(layer, MultiQueryDecoderLayer, "forward", "feed_forward") and all(
        _computes_as(attention, MultiQueryAttention, "forward")
        for attention in (layer.self_attn, layer.encoder_attn)
    )
