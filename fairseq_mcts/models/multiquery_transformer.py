"""`multiquery_transformer`: an encoder–decoder transformer with multi-query attention."""

from typing import Any

from fairseq.models import FairseqEncoderDecoderModel, register_model
from torch import Tensor

from fairseq_mcts.models.embeddings import build_token_embedding
from fairseq_mcts.models.multiquery_config import MultiQueryTransformerConfig, check_config
from fairseq_mcts.models.multiquery_decoder import MultiQueryTransformerDecoder
from fairseq_mcts.models.multiquery_encoder import MultiQueryTransformerEncoder


@register_model("multiquery_transformer", dataclass=MultiQueryTransformerConfig)
class MultiQueryTransformerModel(FairseqEncoderDecoderModel):  # type: ignore[misc]
    """The policy alone. Named sizes: see `sizes.py`."""

    decoder_class = MultiQueryTransformerDecoder

    @classmethod
    def build_model(
        cls, cfg: MultiQueryTransformerConfig, task: Any
    ) -> "MultiQueryTransformerModel":
        """Makes a new model for the dictionaries of the task."""
        check_config(cfg)
        source, target = task.source_dictionary, task.target_dictionary
        source_table = build_token_embedding(source, cfg.encoder_embed_dim, cfg.encoder_embed_path)
        if not cfg.share_all_embeddings:
            path = cfg.decoder_embed_path
            target_table = build_token_embedding(target, cfg.decoder_embed_dim, path)
        elif source == target:
            target_table = source_table
        else:
            raise ValueError(
                "--share-all-embeddings needs a joined dictionary "
                "(fairseq-preprocess --joined-dictionary)"
            )
        return cls(
            MultiQueryTransformerEncoder(cfg, source, source_table),
            cls.decoder_class(cfg, target, target_table),
        )

    def forward(
        self,
        src_tokens: Tensor,  # [B, S]
        src_lengths: Tensor | None,  # [B]
        prev_output_tokens: Tensor,  # [B, T]
        return_all_hiddens: bool = False,
        features_only: bool = False,
        source_of_row: Tensor | None = None,  # [B] into the sources; None: one source a row
        values_at: Tensor | None = None,  # bool [B, T] where the caller reads values
    ) -> tuple[Tensor, dict[str, Any]]:
        """Encodes and decodes with teacher forcing; returns what the decoder returns."""
        encoder_out = self.encoder(
            src_tokens, src_lengths=src_lengths, return_all_hiddens=return_all_hiddens
        )
        if source_of_row is not None:
            encoder_out = self.encoder.reorder_encoder_out(encoder_out, source_of_row)
        result: tuple[Tensor, dict[str, Any]]
        result = self.decoder(prev_output_tokens, encoder_out, features_only=features_only)
        return result
