"""`dual_head_multiquery_transformer`: policy and value from one decoder pass."""

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import Tensor, nn

from fairseq_mcts.models.initialisation import depth_scaled, init_linear
from fairseq_mcts.models.multiquery_attention import IncrementalState
from fairseq_mcts.models.multiquery_config import DualHeadMultiQueryTransformerConfig
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.multiquery_transformer import MultiQueryTransformerModel
from fairseq_mcts.models.value_head import ValueHead, resolve_range


class DualHeadMultiQueryTransformerDecoder(MultiQueryTransformerDecoder):
    """The policy's decoder with a value head on the same features.

    Position t has read y1..yt: its value is that prefix's value, its policy that of y(t+1).
    """

    def __init__(
        self,
        cfg: DualHeadMultiQueryTransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens)
        low, high = resolve_range(cfg.value_min, cfg.value_max)
        self.value_head = ValueHead(
            cfg.decoder_embed_dim, low=low, high=high, buckets=cfg.value_buckets
        )
        init_linear(self.value_head.projection, std=depth_scaled(cfg.init_std, cfg.decoder_layers))

    def extract_features(
        self,
        prev_output_tokens: Tensor,  # [B, T]
        encoder_out: EncoderOut,
        incremental_state: IncrementalState | None = None,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Adds two extras to those of the policy's decoder:

        - `value_logits`: over the buckets, [B, T, buckets];
        - `value`: float32 [B, T].

        They are there under `features_only` too, which skips the costly policy alone.
        """
        features, extra = super().extract_features(
            prev_output_tokens, encoder_out, incremental_state
        )
        extra["value_logits"], extra["value"] = self.value_head(features)
        return features, extra


@register_model("dual_head_multiquery_transformer", dataclass=DualHeadMultiQueryTransformerConfig)
class DualHeadMultiQueryTransformerModel(MultiQueryTransformerModel):
    """Policy and value. Named sizes: see `sizes.py`."""

    decoder_class = DualHeadMultiQueryTransformerDecoder
