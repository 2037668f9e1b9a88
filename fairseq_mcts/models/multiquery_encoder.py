"""The encoder of the multi-query transformer."""

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fairseq_mcts.models.embeddings import check_length
from fairseq_mcts.models.initialisation import depth_scaled, init_linear_modules
from fairseq_mcts.models.multiquery_config import MultiQueryTransformerConfig
from fairseq_mcts.models.multiquery_layers import LayerStack, MultiQueryEncoderLayer

#: What an encoder hands to the decoder; a list is empty where there is nothing.
EncoderOut = dict[str, list[Tensor]]


class MultiQueryTransformerEncoder(LayerStack, FairseqEncoder):  # type: ignore[misc]
    """`cfg.encoder_layers` layers of `MultiQueryEncoderLayer` under a final layer norm."""

    def __init__(
        self, cfg: MultiQueryTransformerConfig, dictionary: Dictionary, embed_tokens: nn.Embedding
    ) -> None:
        super().__init__(dictionary)
        self.padding_idx: int = dictionary.pad()
        self._build(cfg, MultiQueryEncoderLayer, embed_tokens, cfg.max_source_positions)
        init_linear_modules(self.layers, std=depth_scaled(cfg.init_std, cfg.encoder_layers))

    def forward(
        self,
        src_tokens: Tensor,  # [B, S]
        src_lengths: Tensor | None = None,  # [B] without padding
        return_all_hiddens: bool = False,
    ) -> EncoderOut:
        """Encodes a batch; the keys and layouts are those of fairseq's transformer encoder."""
        length = src_tokens.size(1)
        if src_lengths is not None and length > self.embed_positions.max_positions:
            length = int(src_lengths.max())  # padding has no positions
        check_length(length, self.embed_positions, "--max-source-positions")
        padding = src_tokens.eq(self.padding_idx)  # [B, S]
        mask = padding.unsqueeze(1) if bool(padding.any()) else None  # [B, 1, S]

        x = self._embed(src_tokens, self.embed_positions(src_tokens))  # [B, S, C]
        states = [x.transpose(0, 1)]  # of [S, B, C]
        for layer in self.layers:
            x = layer(x, mask)
            states.append(x.transpose(0, 1))

        return {
            "encoder_out": [self.layer_norm(x).transpose(0, 1)],  # [S, B, C]
            "encoder_padding_mask": [padding],  # [B, S]
            "encoder_embedding": [],
            "encoder_states": states if return_all_hiddens else [],
            "src_tokens": [],
            "src_lengths": [],
        }

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        """Lets row i become the present row `new_order[i]`, of [B']."""
        batch_dim = {"encoder_padding_mask": 0}
        return {
            name: [rows.index_select(batch_dim.get(name, 1), new_order) for rows in tensors]
            for name, tensors in encoder_out.items()
        }
