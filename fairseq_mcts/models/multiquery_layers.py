"""The layers of the multi-query transformer: pre-norm, so that the residual path is unbroken.

Submodules bear fairseq's names, so that code which reads a fairseq transformer's weights reads
these as well.
"""

import math
from typing import ClassVar, Literal

from fairseq import utils
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from fairseq_mcts.models.embeddings import build_position_embedding
from fairseq_mcts.models.multiquery_attention import IncrementalState, MultiQueryAttention
from fairseq_mcts.models.multiquery_config import MultiQueryTransformerConfig


class FeedForwardLayer(nn.Module):
    """What encoder and decoder layers share: self attention's parts and the feed-forward block."""

    side: ClassVar[Literal["encoder", "decoder"]]  # whose options count

    def __init__(self, cfg: MultiQueryTransformerConfig) -> None:
        super().__init__()
        width = getattr(cfg, f"{self.side}_embed_dim")
        inner_width = getattr(cfg, f"{self.side}_ffn_embed_dim")
        owner = type(self).__name__  # --retain-dropout-modules chooses dropouts by this name
        self.dropout_module = FairseqDropout(cfg.dropout, module_name=owner)

        self.self_attn = self._make_attention(cfg, source_dim=width)
        self.self_attn_layer_norm = nn.LayerNorm(width)

        self.fc1 = nn.Linear(width, inner_width)
        self.activation_fn = utils.get_activation_fn(str(cfg.activation_fn))
        self.activation_dropout_module = FairseqDropout(cfg.activation_dropout, module_name=owner)
        self.fc2 = nn.Linear(inner_width, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def _make_attention(
        self, cfg: MultiQueryTransformerConfig, *, source_dim: int
    ) -> MultiQueryAttention:
        return MultiQueryAttention(
            getattr(cfg, f"{self.side}_embed_dim"),
            getattr(cfg, f"{self.side}_attention_heads"),
            getattr(cfg, f"{self.side}_head_dim"),
            source_dim=source_dim,
            dropout=cfg.attention_dropout,
        )

    def feed_forward(self, x: Tensor) -> Tensor:
        """The feed-forward block with its residual; [B, T, C] → [B, T, C]."""
        hidden = self.activation_fn(self.fc1(self.final_layer_norm(x)))
        hidden = self.fc2(self.activation_dropout_module(hidden))
        result: Tensor = x + self.dropout_module(hidden)
        return result


class MultiQueryEncoderLayer(FeedForwardLayer):
    """Self attention over the whole sentence, then the feed-forward block."""

    side = "encoder"

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """[B, S, C] → [B, S, C] under a mask [B, 1, S]; True at padding."""
        normed = self.self_attn_layer_norm(x)
        attended, _ = self.self_attn(normed, normed, mask=mask)
        x = x + self.dropout_module(attended)
        return self.feed_forward(x)


class MultiQueryDecoderLayer(FeedForwardLayer):
    """Causal self attention, cross attention to the encoder, then the feed-forward block."""

    side = "decoder"

    def __init__(self, cfg: MultiQueryTransformerConfig) -> None:
        super().__init__(cfg)
        self.encoder_attn = self._make_attention(cfg, source_dim=cfg.encoder_embed_dim)
        self.encoder_attn_layer_norm = nn.LayerNorm(cfg.decoder_embed_dim)

    def forward(
        self,
        x: Tensor,  # [B, T, C]; T = 1, the newest position, in incremental decoding
        encoder_out: Tensor,  # [B, S, encoder_embed_dim]
        *,
        encoder_mask: Tensor | None,  # [B, 1, S]; True at padding
        self_attn_mask: Tensor | None,  # [T, T] or [B, T, T]; True hides a position
        incremental_state: IncrementalState | None,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:  # [B, T, C], cross attention weights [B, T, S]
        normed = self.self_attn_layer_norm(x)
        attended, _ = self.self_attn(
            normed, normed, mask=self_attn_mask, incremental_state=incremental_state
        )
        x = x + self.dropout_module(attended)

        attended, weights = self.encoder_attn(
            self.encoder_attn_layer_norm(x),
            encoder_out,
            mask=encoder_mask,
            incremental_state=incremental_state,
            static_source=True,
            need_weights=need_weights,
        )
        x = x + self.dropout_module(attended)
        return self.feed_forward(x), weights


class LayerStack(nn.Module):
    """What encoder and decoder share: embedded tokens, layers of one kind, a final layer norm."""

    def _build(
        self,
        cfg: MultiQueryTransformerConfig,
        layer_class: type[FeedForwardLayer],
        embed_tokens: nn.Embedding,
        max_positions: int,
    ) -> None:
        side = layer_class.side
        width = getattr(cfg, f"{side}_embed_dim")
        self._max_positions = max_positions
        self.embed_tokens = embed_tokens
        self.embed_scale = math.sqrt(width)
        self.embed_positions = build_position_embedding(
            embed_tokens, max_positions, learned=getattr(cfg, f"{side}_learned_pos")
        )
        self.dropout_module = FairseqDropout(cfg.dropout, module_name=type(self).__name__)
        depth = getattr(cfg, f"{side}_layers")
        self.layers = nn.ModuleList(layer_class(cfg) for _ in range(depth))
        self.layer_norm = nn.LayerNorm(width)

    def _embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """[B, T, C], the input of the first layer, from tokens [B, T] and positions [B, T, C]."""
        x: Tensor = self.dropout_module(self.embed_scale * self.embed_tokens(tokens) + positions)
        return x

    def max_positions(self) -> int:
        """The longest text that is accepted."""
        return self._max_positions
