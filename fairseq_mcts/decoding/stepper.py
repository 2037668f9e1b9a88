"""Decoder steppers: the features of many prefixes in one pass, each from its parent's.

Rows of a batch belong to different sentences and have different lengths; each has its own position
and reads the keys and values of its own ancestors from the pool.
"""

from typing import NamedTuple, Protocol

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
from fairseq_mcts.decoding.step_batch import SentenceGroups, StepBatch
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
        self._pool = KeyValuePool(
            len(self._layers),
            self._layers[0].self_attention.key_shape,
            parameter.dtype,
            parameter.device,
        )
        self._source = _Source([], torch.empty(0))
        # the part of it that the rows of the last step belonged to: mostly that of the next too
        self._present = self._source
        self._present_sentences: bytes | None = None

    @property
    def bytes_per_slot(self) -> int:
        return self._pool.bytes_per_slot

    def begin(self, encoder_out: EncoderOut) -> None:
        source = encoder_out["encoder_out"][0].transpose(0, 1)  # [S, T, C]
        mask = source.new_zeros(source.shape[:2])
        if encoder_out["encoder_padding_mask"]:
            mask.masked_fill_(encoder_out["encoder_padding_mask"][0].to(torch.bool), -torch.inf)
        keys_values = [layer.cross_attention.key_value(source) for layer in self._layers]
        self._source = _Source(keys_values, mask)
        self._present_sentences = None

    def reserve(self, capacity: int) -> None:
        self._pool.reserve(capacity)

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        groups = batch.groups
        x = self._input(batch)
        source = self._source_of(groups)
        for index, layer in enumerate(self._layers):
            attention = layer.self_attention
            residual, x = x, layer.before(layer.self_attention_norm, x)
            query, key, value = attention.query_key_value(x)
            self._pool.write(index, batch.slots, key, value)
            keys, values = self._pool.read(index, batch.paths)
            x = attention.attend(query, keys, values, batch.path_mask)
            x = residual + layer.after_self_attention(x)
            x = layer.after(layer.self_attention_norm, x)

            attention = layer.cross_attention
            residual, x = x, layer.before(layer.cross_attention_norm, x)
            keys, values = source.keys_values[index]
            x = attention.attend_groups(attention.query(x), keys, values, source.mask, groups)
            x = residual + layer.after_cross_attention(x)
            x = layer.after(layer.cross_attention_norm, x)

            x = layer.feed_forward(x)
        for step in self._finish:
            x = step(x)
        return x

    def _source_of(self, groups: SentenceGroups) -> "_Source":
        """What the sentences of `groups` attend to; a copy only when the sentences change."""
        if groups.sentence_bytes != self._present_sentences:
            self._present_sentences = groups.sentence_bytes
            everyone = len(groups.sentences) == len(self._source.mask)
            self._present = self._source if everyone else self._source.part(groups.sentences)
        return self._present


class _Source(NamedTuple):
    """Keys and values of source sentences: what cross attention reads."""

    keys_values: list[tuple[Tensor, Tensor]]  # per layer, [S, T, K] each
    mask: Tensor  # [S, T] 0 or -inf

    def part(self, sentences: Tensor) -> "_Source":
        """That of some sentences [g], in this order."""
        return _Source(
            [(keys[sentences], values[sentences]) for keys, values in self.keys_values],
            self.mask[sentences],
        )


class _LayerStep:
    """One decoder layer's parts, whichever of the two kinds it is of."""

    def __init__(self, layer: Network) -> None:
        self._module = layer
        self.self_attention = _rows(layer.self_attn)
        self.cross_attention = _rows(layer.encoder_attn)
        self.self_attention_norm = row_norm(layer.self_attn_layer_norm)
        self.cross_attention_norm = row_norm(layer.encoder_attn_layer_norm)
        self._final_norm = row_norm(layer.final_layer_norm)
        # multi-query layers are always pre-norm
        self._pre_norm: bool = getattr(layer, "normalize_before", True)
        self._self_output = row_linear(layer.self_attn.out_proj)
        self.after_cross_attention = row_linear(layer.encoder_attn.out_proj)
        self._activation = layer.activation_fn
        has_relu = layer.activation_fn in (F.relu, torch.relu)
        if has_relu:
            self._activation = None
        self._widen = row_linear(layer.fc1, relu=has_relu)
        self._narrow = row_linear(layer.fc2)

    def before(self, norm: RowFunction, x: Tensor) -> Tensor:
        """The norm in front of a block, in pre-norm layers."""
        return norm(x) if self._pre_norm else x

    def after(self, norm: RowFunction, x: Tensor) -> Tensor:
        """The norm behind a block, in post-norm layers."""
        return x if self._pre_norm else norm(x)

    def after_self_attention(self, heads: Tensor) -> Tensor:
        """[n, H * d] -> [n, C], with fairseq's optional scalings (--scale-heads, --scale-attn)."""
        layer = self._module
        x = self._self_output(heads)
        if getattr(layer, "c_attn", None) is not None:
            x = (x.view(len(x), layer.nh, layer.head_dim) * layer.c_attn[:, None]).flatten(1)
        if getattr(layer, "attn_ln", None) is not None:
            x = layer.attn_ln(x)
        return x

    def feed_forward(self, x: Tensor) -> Tensor:
        """The feed-forward block with residual and norm (--scale-fc and --scale-resids too)."""
        layer = self._module
        residual, x = x, self.before(self._final_norm, x)
        x = self._widen(x)
        if self._activation is not None:
            x = self._activation(x)
        if getattr(layer, "ffn_layernorm", None) is not None:
            x = layer.ffn_layernorm(x)
        x = self._narrow(x)
        if getattr(layer, "w_resid", None) is not None:
            residual = layer.w_resid * residual
        return self.after(self._final_norm, residual + x)


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
            x = x + position_rows(self._positions, batch.depths, batch.paths.size(1)).to(x)
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
        table.weights = table.get_embedding(needed, table.embedding_dim, table.padding_idx)
    return table.weights.to(depths.device)[positions]


def can_step(decoder: Network) -> bool:
    """Whether `TransformerStepper` computes just what this decoder does.

    A subclass with its own forward pass, or a variant that the stepper does not know, has to be
    evaluated by the decoder itself.
    """
    if isinstance(decoder, MultiQueryTransformerDecoder):
        return True
    if not isinstance(decoder, TransformerDecoderBase) or decoder.cross_self_attention:
        return False
    own = TransformerDecoderBase
    for name in ("forward", "extract_features_scriptable", "output_layer"):
        if getattr(type(decoder), name) is not getattr(own, name):
            return False
    return all(_is_plain_layer(layer) for layer in decoder.layers)


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
