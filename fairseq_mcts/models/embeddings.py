"""Token and position embeddings, as both the encoder and the decoder use them."""

from fairseq import utils
from fairseq.data import Dictionary
from fairseq.modules import PositionalEmbedding
from torch import nn

from fairseq_mcts.models.initialisation import init_embedding
from fairseq_mcts.models.network import Network


def build_token_embedding(
    dictionary: Dictionary, embed_dim: int, path: str | None = None
) -> nn.Embedding:
    """A table of token vectors; those found in the file `path` start from there."""
    table = nn.Embedding(len(dictionary), embed_dim, padding_idx=dictionary.pad())
    init_embedding(table, std=embed_dim**-0.5)  # 1.0 after embed_scale: see initialisation.py
    if path:
        pretrained = utils.parse_embedding(path)
        for token, vector in pretrained.items():
            if len(vector) != embed_dim:
                raise ValueError(
                    f"{path}: the vector of {token!r} has {len(vector)} numbers, "
                    f"but the embedding dimension is {embed_dim}"
                )
        utils.load_embedding(pretrained, dictionary, table)
    return table


def build_position_embedding(
    embed_tokens: nn.Embedding, max_positions: int, *, learned: bool
) -> Network:
    """fairseq's positions, sinusoidal or learned; they count tokens, never padding."""
    positions = PositionalEmbedding(
        max_positions, embed_tokens.embedding_dim, embed_tokens.padding_idx, learned=learned
    )
    if learned:
        init_embedding(positions, std=1.0)  # positions are added without embed_scale
    return positions


def check_length(length: int, positions: Network, option: str) -> None:
    """Refuses a batch that is too long for learned positions; sinusoidal ones have no end."""
    if length > positions.max_positions:
        raise ValueError(
            f"a batch is {length} tokens long, but {option} was {positions.max_positions} when "
            "the model was made, and learned positions cannot be extended"
        )
