"""The layers of the multi-query transformer: pre-norm, so that the residual path is unbroken.

Submodules bear fairseq's names, so that code which reads a fairseq transformer's weights reads
these as well.
"""

from dataclasses import dataclass

from fairseq import utils
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from fairseq_mcts.models.multiquery_attention import IncrementalState, MultiQueryAttention


@dataclass(frozen=True)
class LayerSettings:
    """What a layer is made of; encoder and decoder may differ in all of it."""

    embed_dim: int
    ffn_embed_dim: int
    attention_heads: int
    head_dim: int
    activation_fn: str
    dropout: float
    attention_dropout: float
    activation_dropout: float


class FeedForwardLayer(nn.Module):
    """What encoder and decoder layers share: self attention's parts and the feed-forward block."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        width = settings.embed_dim
        owner = type(self).__name__  # --retain-dropout-modules chooses dropouts by this name
        self.dropout_module = FairseqDropout(settings.dropout, module_name=owner)

        self.self_attn = MultiQueryAttention(
            width,
            settings.attention_heads,
            settings.head_dim,
            dropout=settings.attention_dropout,
        )
        self.self_attn_layer_norm = nn.LayerNorm(width)

        self.fc1 = nn.Linear(width, settings.ffn_embed_dim)
        self.activation_fn = utils.get_activation_fn(settings.activation_fn)
        self.activation_dropout_module = FairseqDropout(
            settings.activation_dropout, module_name=owner
        )
        self.fc2 = nn.Linear(settings.ffn_embed_dim, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def feed_forward(self, x: Tensor) -> Tensor:
        """The feed-forward block with its residual; [B, T, C] → [B, T, C]."""
        hidden = self.activation_fn(self.fc1(self.final_layer_norm(x)))
        hidden = self.fc2(self.activation_dropout_module(hidden))
        result: Tensor = x + self.dropout_module(hidden)
        return result


class MultiQueryEncoderLayer(FeedForwardLayer):
    """Self attention over the whole sentence, then the feed-forward block."""

    def forward(
        self,
        x: Tensor,  # [B, S, C]
        mask: Tensor | None,  # [B, 1, S]; True at padding
    ) -> Tensor:  # [B, S, C]
        normed = self.self_attn_layer_norm(x)
        attended, _ = self.self_attn(normed, normed, mask=mask)
        x = x + self.dropout_module(attended)
        return self.feed_forward(x)


class MultiQueryDecoderLayer(FeedForwardLayer):
    """Causal self attention, cross attention to the encoder, then the feed-forward block."""

    def __init__(self, settings: LayerSettings, encoder_embed_dim: int) -> None:
        super().__init__(settings)
        self.encoder_attn = MultiQueryAttention(
            settings.embed_dim,
            settings.attention_heads,
            settings.head_dim,
            source_dim=encoder_embed_dim,
            dropout=settings.attention_dropout,
        )
        self.encoder_attn_layer_norm = nn.LayerNorm(settings.embed_dim)

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
