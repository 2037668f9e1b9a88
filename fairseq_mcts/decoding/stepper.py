"""Decoder steppers: the features of many prefixes in one pass, each from its parent's.

Rows of a batch belong to different sentences and have different lengths; each has its own position
and reads the keys and values of its own ancestors from the pool.
"""

from typing import Protocol

import torch
import torch.nn.functional as F
from fairseq.models.transformer import TransformerDecoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor

from fairseq_mcts.decoding import Network
from fairseq_mcts.decoding.key_value_pool import KeyValuePool
from fairseq_mcts.decoding.linear import RowFunction, row_linear, row_norm
from fairseq_mcts.decoding.row_attention import MultiHeadRows, MultiQueryRows, RowAttention
from fairseq_mcts.decoding.source_keys import SourceKeys, make_source_keys
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.models.dual_head_transformer import DualHeadMultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.search.tree import Tree

EncoderOut = dict[str, list[Tensor]]


class Stepper(Protocol):
    """Computes what a decoder's heads read."""

    def begin(self, encoder_out: EncoderOut) -> None:
        """Starts on the sentences of `encoder_out`; forgets those before."""
        ...

    def reserve(self, capacity: int) -> None:
        """Makes room for slots below `capacity`."""
        ...

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        """[n, C] features after the last token of each row."""
        ...

    @property
    def bytes_per_slot(self) -> int:
        """Memory that each remembered prefix takes."""
        ...


class TransformerStepper:
    """Steps a multi-query decoder of this project or an ordinary fairseq transformer decoder.

    Both name their parts alike; they differ in the shape of keys and values, which
    `RowAttention` knows about.
    """

    def __init__(self, decoder: Network) -> None:
        self._input = _InputLayer(decoder)
        self._finish = _output_steps(decoder)
        self._layers = [_LayerStep(layer) for layer in decoder.layers]
        parameter = next(decoder.parameters())
        self.pool = KeyValuePool(
            len(self._layers),
            self._layers[0].self_attention.key_shape,
            parameter.dtype,
            parameter.device,
        )
        self._source: SourceKeys | None = None

    @property
    def bytes_per_slot(self) -> int:
        return self.pool.bytes_per_slot

    def begin(self, encoder_out: EncoderOut) -> None:
        # contiguous for any number of sentences: torch multiplies others in another way
        source = encoder_out["encoder_out"][0].transpose(0, 1).contiguous()  # [S, T, C]
        is_padding = torch.zeros(source.shape[:2], dtype=torch.bool, device=source.device)
        if encoder_out["encoder_padding_mask"]:
            is_padding = encoder_out["encoder_padding_mask"][0].to(torch.bool)
        keys_values = [layer.cross_attention.key_value(source) for layer in self._layers]
        self._source = make_source_keys(keys_values, is_padding)

    def reserve(self, capacity: int) -> None:
        self.pool.reserve(capacity)

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        assert self._source is not None  # `begin` comes first
        x = self._input(batch)
        for index, layer in enumerate(self._layers):
            attention = layer.self_attention
            residual, x = x, layer.before_self_attention(x)
            x = attention.attend_path(x, self.pool, index, batch)
            x = layer.behind_self_attention(residual + layer.self_output(x))

            attention = layer.cross_attention
            residual, x = x, layer.before_cross_attention(x)
            x = self._source.attend(attention, index, attention.query(x), batch)
            x = layer.behind_cross_attention(residual + layer.cross_output(x))

            residual, x = layer.scaled_residual(x), layer.before_feed_forward(x)
            x = layer.behind_feed_forward(residual + layer.feed_forward(x))
        for step in self._finish:
            x = step(x)
        return x


class _LayerStep:
    """One decoder layer's parts, whichever of the two kinds it is of.

    What a layer does not have (the norms in front of its blocks or those behind them, fairseq's
    optional scalings) is the identity: which parts there are is found out once and not at every
    step.
    """

    def __init__(self, layer: Network) -> None:
        self.self_attention = _rows(layer.self_attn)
        self.cross_attention = _rows(layer.encoder_attn)
        # multi-query layers are always pre-norm
        before_blocks: bool = getattr(layer, "normalize_before", True)
        norms = (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)
        rows = [row_norm(norm) for norm in norms]
        none: list[RowFunction] = [_identity] * len(norms)
        before, behind = (rows, none) if before_blocks else (none, rows)
        self.before_self_attention, self.before_cross_attention, self.before_feed_forward = before
        self.behind_self_attention, self.behind_cross_attention, self.behind_feed_forward = behind
        self.self_output = _in_turn(
            row_linear(layer.self_attn.out_proj), _head_scaling(layer), _optional(layer, "attn_ln")
        )
        self.cross_output = row_linear(layer.encoder_attn.out_proj)
        has_relu = layer.activation_fn in (F.relu, torch.relu)
        self.feed_forward = _in_turn(
            row_linear(layer.fc1, relu=has_relu),
            _identity if has_relu else layer.activation_fn,
            _optional(layer, "ffn_layernorm"),
            row_linear(layer.fc2),
        )
        self.scaled_residual = _residual_scaling(layer)


def _identity(x: Tensor) -> Tensor:
    return x


def _in_turn(*functions: RowFunction) -> RowFunction:
    """All but the identities, one after the other."""
    first, *others = [one for one in functions if one is not _identity]
    if not others:
        return first

    def apply(x: Tensor) -> Tensor:
        x = first(x)
        for function in others:
            x = function(x)
        return x

    return apply


def _optional(layer: Network, name: str) -> RowFunction:
    module = getattr(layer, name, None)
    return _identity if module is None else row_norm(module)


def _head_scaling(layer: Network) -> RowFunction:
    """fairseq's --scale-heads: [n, H * d] -> the same."""
    factors = getattr(layer, "c_attn", None)
    if factors is None:
        return _identity
    shape = (-1, layer.nh, layer.head_dim)
    return lambda x: (x.view(shape) * factors[:, None]).flatten(1)


def _residual_scaling(layer: Network) -> RowFunction:
    """fairseq's --scale-resids."""
    factors = getattr(layer, "w_resid", None)
    return _identity if factors is None else lambda x: factors * x


def _rows(attention: Network) -> RowAttention:
    if isinstance(attention, MultiheadAttention):
        return MultiHeadRows(attention)
    return MultiQueryRows(attention)


class _InputLayer:
    """The input of the first layer: each row's last token at its own position."""

    def __init__(self, decoder: Network) -> None:
        self._scale: float = decoder.embed_scale
        self._tokens = decoder.embed_tokens
        self._before_positions = _modules(decoder, "quant_noise", "project_in_dim")
        self._positions = decoder.embed_positions
        self._behind_positions = _modules(decoder, "layernorm_embedding")

    def __call__(self, batch: StepBatch) -> Tensor:
        """[n, C]"""
        x = self._scale * self._tokens(batch.tokens)
        for module in self._before_positions:
            x = module(x)
        if self._positions is not None:
            x += position_rows(self._positions, batch.depths, batch.longest)
        for module in self._behind_positions:
            x = module(x)
        return x


def _output_steps(decoder: Network) -> list[RowFunction]:
    """What the decoder does behind its last layer."""
    return [row_norm(module) for module in _modules(decoder, "layer_norm", "project_out_dim")]


def _modules(decoder: Network, *names: str) -> list[Network]:
    """Those of the named modules that this decoder has."""
    found = [getattr(decoder, name, None) for name in names]
    return [module for module in found if module is not None]


def position_rows(table: Network, depths: Tensor, longest: int) -> Tensor:
    """[n, C] rows of fairseq's position table, learned or sinusoidal; it starts behind padding.

    All depths are below `longest`, which the host knows without asking the device.
    """
    positions = depths + table.padding_idx + 1
    if hasattr(table, "weight"):
        return table.weight[positions]
    needed = longest + table.padding_idx + 1
    if table.weights.size(0) < needed:
        wider = table.get_embedding(needed, table.embedding_dim, table.padding_idx)
        table.weights = wider.to(table.weights)
    return table.weights.to(depths.device)[positions]


def can_step(decoder: Network) -> bool:
    """Whether `TransformerStepper` computes just what this decoder does.

    A subclass with its own forward pass, or a variant that the stepper does not know, has to be
    evaluated by the decoder itself.
    """
    if isinstance(decoder, MultiQueryTransformerDecoder):
        return any(
            _computes_as(decoder, kind, "forward", "extract_features", "output_layer")
            for kind in (MultiQueryTransformerDecoder, DualHeadMultiQueryTransformerDecoder)
        )
    if not isinstance(decoder, TransformerDecoderBase) or decoder.cross_self_attention:
        return False
    steps = ("forward", "extract_features", "extract_features_scriptable", "output_layer")
    return _computes_as(decoder, TransformerDecoderBase, *steps) and all(
        _is_plain_layer(layer) for layer in decoder.layers
    )


def _computes_as(decoder: Network, known: type, *methods: str) -> bool:
    """Whether a decoder has these methods of the `known` class, and not its own ones."""
    return all(getattr(type(decoder), name) is getattr(known, name) for name in methods)


def _is_plain_layer(layer: Network) -> bool:
    if not isinstance(layer, TransformerDecoderLayerBase) or layer.encoder_attn is None:
        return False
    if type(layer).forward is not TransformerDecoderLayerBase.forward:
        return False
    if type(layer).residual_connection is not TransformerDecoderLayerBase.residual_connection:
        return False
    return all(
        type(attention).forward is MultiheadAttention.forward
        and attention.bias_k is None
        and not attention.add_zero_attn
        and not attention.use_xformers
        for attention in (layer.self_attn, layer.encoder_attn)
    )
