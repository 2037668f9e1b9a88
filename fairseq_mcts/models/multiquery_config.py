"""The options of both architectures. The defaults are the paper's base size."""

# fairseq reads these annotations and understands `Optional` only.

from dataclasses import dataclass
from typing import Optional

from fairseq import utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from fairseq_mcts.models.options import ValueHeadOptions, option

DEFAULT_MAX_POSITIONS = 128

ActivationChoice = ChoiceEnum(utils.get_available_activation_fns())


@dataclass
class MultiQueryTransformerConfig(FairseqDataclass):  # type: ignore[misc]
    """Options of `multiquery_transformer`."""

    activation_fn: ActivationChoice = option(  # type: ignore[valid-type]
        "relu", "activation function of the feed-forward blocks"
    )
    dropout: float = option(0.1, "dropout probability")
    attention_dropout: float = option(0.0, "dropout probability of attention weights")
    activation_dropout: float = option(
        0.0, "dropout probability after the activation in feed-forward blocks"
    )
    init_std: float = option(
        0.02,
        "weight matrices start from a normal distribution with this standard deviation divided by "
        "the square root of the number of layers",
    )

    encoder_embed_path: Optional[str] = option(None, "file with pre-trained encoder embeddings")
    encoder_embed_dim: int = option(512, "width of the encoder")
    encoder_ffn_embed_dim: int = option(3072, "inner width of the encoder's feed-forward blocks")
    encoder_layers: int = option(6, "number of encoder layers")
    encoder_attention_heads: int = option(16, "number of query heads in the encoder")
    encoder_head_dim: int = option(
        128, "size of a query head and of the shared key and value in the encoder"
    )
    encoder_learned_pos: bool = option(False, "learn the encoder's positions (default: sinusoidal)")
    max_source_positions: int = option(
        DEFAULT_MAX_POSITIONS, "longest source in tokens, end of sentence included"
    )

    decoder_embed_path: Optional[str] = option(None, "file with pre-trained decoder embeddings")
    decoder_embed_dim: int = option(512, "width of the decoder")
    decoder_ffn_embed_dim: int = option(3072, "inner width of the decoder's feed-forward blocks")
    decoder_layers: int = option(6, "number of decoder layers")
    decoder_attention_heads: int = option(16, "number of query heads in the decoder")
    decoder_head_dim: int = option(
        128, "size of a query head and of the shared key and value in the decoder"
    )
    decoder_learned_pos: bool = option(False, "learn the decoder's positions (default: sinusoidal)")
    max_target_positions: int = option(
        DEFAULT_MAX_POSITIONS, "longest target in tokens, end of sentence included"
    )

    share_decoder_input_output_embed: bool = option(
        False, "use the decoder's input embeddings as its output projection"
    )
    share_all_embeddings: bool = option(
        False,
        "one table for encoder input, decoder input and output projection (needs a joined "
        "dictionary and equal widths)",
    )


@dataclass
class DualHeadMultiQueryTransformerConfig(ValueHeadOptions, MultiQueryTransformerConfig):
    """Options of `dual_head_multiquery_transformer`."""


#: Options that make no sense below 1.
_COUNTS = (
    *(
        f"{side}_{part}"
        for side in ("encoder", "decoder")
        for part in ("embed_dim", "ffn_embed_dim", "layers", "attention_heads", "head_dim")
    ),
    "max_source_positions",
    "max_target_positions",
)


def check_config(cfg: MultiQueryTransformerConfig) -> None:
    """Refuses sizes that no model can have, by the name of the option."""
    for name in _COUNTS:
        if getattr(cfg, name) < 1:
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag} must be at least 1, got {getattr(cfg, name)}")
    if not cfg.init_std > 0:
        raise ValueError(f"--init-std must be positive, got {cfg.init_std}")
    if cfg.share_all_embeddings:
        if cfg.encoder_embed_dim != cfg.decoder_embed_dim:
            raise ValueError(
                "--share-all-embeddings needs --encoder-embed-dim equal to --decoder-embed-dim, "
                f"got {cfg.encoder_embed_dim} and {cfg.decoder_embed_dim}"
            )
        if cfg.decoder_embed_path and cfg.decoder_embed_path != cfg.encoder_embed_path:
            raise ValueError(
                "--share-all-embeddings takes its table from --encoder-embed-path; "
                "a different --decoder-embed-path contradicts it"
            )
