"""`dual_head_multiquery_transformer`: policy and value from one decoder pass."""

from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import Tensor, nn

from fairseq_mcts.models.initialisation import depth_scaled, init_linear
from fairseq_mcts.models.multiquery_config import DualHeadMultiQueryTransformerConfig
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_transformer import MultiQueryTransformerModel
from fairseq_mcts.models.value_head import ValueHead, bucket_options


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
        self.value_head = ValueHead(cfg.decoder_embed_dim, **bucket_options(cfg))
        init_linear(self.value_head.projection, std=depth_scaled(cfg.init_std, cfg.decoder_layers))

    def _read_extra_heads(self, features: Tensor) -> dict[str, Tensor]:
        """`value_logits` over the buckets, [B, T, buckets], and `value`, float32 [B, T].

        They are there under `features_only` too, which skips the costly policy alone.
        """
        logits, value = self.value_head(features)
        return {"value_logits": logits, "value": value}


@register_model("dual_head_multiquery_transformer", dataclass=DualHeadMultiQueryTransformerConfig)
class DualHeadMultiQueryTransformerModel(MultiQueryTransformerModel):
    """Policy and value. Named sizes: see `sizes.py`."""

    decoder_class = DualHeadMultiQueryTransformerDecoder
