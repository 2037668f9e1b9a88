"""The decoder of the multi-query transformer: the policy."""

from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from fairseq_mcts.models.embeddings import check_length
from fairseq_mcts.models.initialisation import depth_scaled, init_linear, init_linear_modules
from fairseq_mcts.models.multiquery_attention import IncrementalState
from fairseq_mcts.models.multiquery_config import MultiQueryTransformerConfig
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.multiquery_layers import LayerStack, MultiQueryDecoderLayer


class MultiQueryTransformerDecoder(LayerStack, FairseqIncrementalDecoder):  # type: ignore[misc]
    """`cfg.decoder_layers` layers of `MultiQueryDecoderLayer`, a final layer norm and the policy.

    Other code reads the weights through the names used here; they are those of fairseq's
    transformer decoder: embed_tokens, embed_positions, embed_scale, layers, layer_norm,
    output_projection.
    """

    def __init__(
        self, cfg: MultiQueryTransformerConfig, dictionary: Dictionary, embed_tokens: nn.Embedding
    ) -> None:
        super().__init__(dictionary)
        self.padding_idx: int = dictionary.pad()
        self._build(cfg, MultiQueryDecoderLayer, embed_tokens, cfg.max_target_positions)
        self.output_projection = nn.Linear(cfg.decoder_embed_dim, len(dictionary), bias=False)

        matrix_std = depth_scaled(cfg.init_std, cfg.decoder_layers)
        init_linear_modules(self.layers, std=matrix_std)
        if cfg.share_all_embeddings or cfg.share_decoder_input_output_embed:
            self.output_projection.weight = embed_tokens.weight
        else:
            init_linear(self.output_projection, std=matrix_std)

    def forward(
        self,
        prev_output_tokens: Tensor,  # [B, T]
        encoder_out: EncoderOut,
        incremental_state: IncrementalState | None = None,
        features_only: bool = False,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Returns policy logits [B, T, vocabulary] and the extras of `extract_features`.

        With `features_only` the first item is the features [B, T, C] instead. With an
        `incremental_state` only the last token is new: everything returned has T = 1.
        """
        features, extra = self.extract_features(prev_output_tokens, encoder_out, incremental_state)
        return (features if features_only else self.output_layer(features)), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,  # [B, T]
        encoder_out: EncoderOut,
        incremental_state: IncrementalState | None = None,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Returns what the heads read, [B, T, C], and a dictionary of extras:

        - `attn`: list of the last layer's cross attention, mean over heads, [B, T, S];
        - `inner_states`: the embedded input and each layer's output, [T, B, C] as in fairseq;
        - `features`: the first item again, the last layer's output after the final layer norm.
        """
        check_length(prev_output_tokens.size(1), self.embed_positions, "--max-target-positions")
        source = encoder_out["encoder_out"][0].transpose(0, 1)  # [B, S, encoder's C]
        source_mask = encoder_out["encoder_padding_mask"][0].unsqueeze(1)  # [B, 1, S]

        positions = self.embed_positions(prev_output_tokens, incremental_state=incremental_state)
        if incremental_state is None:
            self_attn_mask = self._self_attention_mask(prev_output_tokens)
        else:
            # The newest position may see everything before it.
            prev_output_tokens = prev_output_tokens[:, -1:]
            self_attn_mask = None

        x = self._embed(prev_output_tokens, positions)  # [B, T, C]
        inner_states = [x.transpose(0, 1)]
        attention = None
        for depth, layer in enumerate(self.layers, start=1):
            x, attention = layer(
                x,
                source,
                encoder_mask=source_mask,
                self_attn_mask=self_attn_mask,
                incremental_state=incremental_state,
                need_weights=depth == len(self.layers),
            )
            inner_states.append(x.transpose(0, 1))
        features = self.layer_norm(x)
        return features, {
            "attn": [attention],
            "inner_states": inner_states,
            "features": features,
            **self._read_extra_heads(features),
        }

    def _read_extra_heads(self, features: Tensor) -> dict[str, Tensor]:
        """Further extras, of heads beside the policy: none here."""
        return {}

    def _self_attention_mask(self, tokens: Tensor) -> Tensor:
        """bool [T, T] or [B, T, T] for tokens [B, T]; True hides."""
        length = tokens.size(1)
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        padding = tokens.eq(self.padding_idx)
        # Padding to the right of a sentence is hidden by causality anyway.
        if bool(padding[:, 0].any()):
            return mask | padding.unsqueeze(1)
        return mask

    def output_layer(self, features: Tensor) -> Tensor:
        """Policy logits [..., vocabulary] of features [..., C]."""
        logits: Tensor = self.output_projection(features)
        return logits
