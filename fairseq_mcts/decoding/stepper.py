"""The stepper of transformer decoders: features of many prefixes in one pass.

Rows of a batch belong to different sentences and have different lengths; each has its own position
and reads the keys and values of its own ancestors from the pool.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from torch import Tensor

from fairseq_mcts.decoding.key_value_pool import KeyValuePool
from fairseq_mcts.decoding.linear import RowFunction, row_norm
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.row_attention import MultiHeadRows, MultiQueryRows, RowAttention
from fairseq_mcts.decoding.source_keys import SourceKeys
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.search.tree import Tree


class LayerStep:
    """One decoder layer's functions of rows [n, C], in the order in which they are applied.

    What a layer does not have (the norms before its blocks or those after them, fairseq's optional
    scalings) is the identity: which parts there are is found out once and not at every step.
    """

    def __init__(self, layer: Network, placement: Placement) -> None:
        linear = placement.linear
        # multi-query layers are always pre-norm
        is_pre_norm: bool = getattr(layer, "normalize_before", True)
        norms = (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)
        rows = [row_norm(norm) for norm in norms]
        none: list[RowFunction] = [identity] * len(norms)
        before, after = (rows, none) if is_pre_norm else (none, rows)
        self.before_self_attention, self.before_cross_attention, self.before_feed_forward = before
        self.after_self_attention, self.after_cross_attention, self.after_feed_forward = after

        attention = layer.self_attn
        self.self_attention = _row_attention(attention)
        # to scaled queries, keys and values side by side
        self.self_input = linear(
            *(attention.q_proj, attention.k_proj, attention.v_proj),
            scales=[attention.scaling, 1.0, 1.0],
        )
        self.self_output = chain(
            linear(attention.out_proj), _head_scaling(layer), _optional(layer, "attn_ln")
        )
        attention = layer.encoder_attn
        self.cross_attention = _row_attention(attention)
        self.cross_input = linear(attention.q_proj, scales=[attention.scaling])  # scaled queries
        self.cross_output = linear(attention.out_proj)

        self.scaled_residual = _residual_scaling(layer)
        has_relu = layer.activation_fn in (F.relu, torch.relu)
        self.feed_forward = chain(
            linear(layer.fc1, relu=has_relu),
            identity if has_relu else layer.activation_fn,
            _optional(layer, "ffn_layernorm"),
            linear(layer.fc2),
        )


class TransformerStepper:
    """Steps a multi-query decoder of this project or an ordinary fairseq transformer decoder.

    Both name their parts alike; they differ in the shape of keys and values, which
    `RowAttention` knows about.
    """

    layer_class: type[LayerStep] = LayerStep

    def __init__(self, decoder: Network, placement: Placement) -> None:
        self._input = _input_layer(decoder)
        self._layers = [self.layer_class(layer, placement) for layer in decoder.layers]
        self._output = chain(
            _optional(decoder, "layer_norm"), _optional(decoder, "project_out_dim")
        )
        self._attend_path = placement.attend_path
        self._make_source_keys = placement.make_source_keys
        key_shape = self._layers[0].self_attention.key_shape
        self.pool = KeyValuePool(len(self._layers), key_shape, placement.dtype, placement.device)
        self._source: SourceKeys | None = None

    @property
    def bytes_per_slot(self) -> int:
        return self.pool.bytes_per_slot

    def begin(self, encoder_out: EncoderOut) -> None:
        # contiguous for any number of sentences: torch multiplies others in another way
        source = encoder_out["encoder_out"][0].transpose(0, 1).contiguous()  # [S, T, C]
        keys_values = [layer.cross_attention.key_value(source) for layer in self._layers]
        self._source = self._make_source_keys(keys_values, encoder_out["encoder_padding_mask"][0])

    def reserve(self, capacity: int) -> None:
        self.pool.reserve(capacity)

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        assert self._source is not None  # `begin` comes first
        pool, attend_path, attend_source = self.pool, self._attend_path, self._source.attend
        x = self._input(batch)
        for index, layer in enumerate(self._layers):
            residual, x = x, layer.self_input(layer.before_self_attention(x))
            x = attend_path(layer.self_attention, x, pool, index, batch)
            x = layer.after_self_attention(residual + layer.self_output(x))

            residual, x = x, layer.cross_input(layer.before_cross_attention(x))
            x = attend_source(layer.cross_attention, index, x, batch)
            x = layer.after_cross_attention(residual + layer.cross_output(x))

            residual, x = layer.scaled_residual(x), layer.before_feed_forward(x)
            x = layer.after_feed_forward(residual + layer.feed_forward(x))
        return self._output(x)


def identity(x: Tensor) -> Tensor:
    """The part that a layer does not have."""
    return x


def chain(*functions: RowFunction) -> RowFunction:
    """Each function of the one before's result, without identities."""
    applied = [one for one in functions if one is not identity]
    if len(applied) == 1:
        return applied[0]

    def apply(x: Tensor) -> Tensor:
        for function in applied:
            x = function(x)
        return x

    return apply


def _optional(owner: Network, name: str) -> RowFunction:
    """The module of that name, if there is one."""
    module = getattr(owner, name, None)
    return identity if module is None else row_norm(module)


def _head_scaling(layer: Network) -> RowFunction:
    """fairseq's --scale-heads: [n, H * d] -> the same."""
    factors = getattr(layer, "c_attn", None)
    if factors is None:
        return identity
    shape = (-1, layer.nh, layer.head_dim)
    return lambda x: (x.view(shape) * factors[:, None]).flatten(1)


def _residual_scaling(layer: Network) -> RowFunction:
    """fairseq's --scale-resids."""
    factors = getattr(layer, "w_resid", None)
    return identity if factors is None else lambda x: factors * x


def _row_attention(attention: Network) -> RowAttention:
    if isinstance(attention, MultiheadAttention):
        return MultiHeadRows(attention)
    return MultiQueryRows(attention)


def _input_layer(decoder: Network) -> Callable[[StepBatch], Tensor]:
    """The input [n, C] of the first layer: each row's last token at its own position."""
    before_positions = chain(
        _optional(decoder, "quant_noise"), _optional(decoder, "project_in_dim")
    )
    after_positions = _optional(decoder, "layernorm_embedding")

    def embed(batch: StepBatch) -> Tensor:
        x = before_positions(decoder.embed_scale * decoder.embed_tokens(batch.tokens))
        if decoder.embed_positions is not None:
            x += position_rows(decoder.embed_positions, batch.depths, batch.longest)
        return after_positions(x)

    return embed


def position_rows(table: Network, depths: Tensor, longest: int) -> Tensor:
    """[n, C] rows of fairseq's position table, learned or sinusoidal, which begins with padding.

    All depths are below `longest`, which the host knows without asking the device.
    """
    positions = depths + table.padding_idx + 1
    if hasattr(table, "weight"):
        return table.weight[positions]
    needed = longest + table.padding_idx + 1
    if table.weights.size(0) < needed:
        wider = table.get_embedding(needed, table.embedding_dim, table.padding_idx)
        table.weights = wider.to(table.weights)
    if table.weights.device != depths.device:  # fairseq's has stayed where it was made
        table.weights = table.weights.to(depths.device)
    return table.weights[positions]
