"""An encoder for the BERTScores that is real in everything but its weights."""

from collections.abc import Sequence
from pathlib import Path


def save_toy_encoder(folder: Path, texts: Sequence[str]) -> None:
    """A BertModel folder with random weights: its scores mean nothing, its code path all."""
    import torch
    from transformers import BertConfig, BertModel

    from examples.demo.wordpieces import build_vocabulary, save_tokenizer

    vocabulary = build_vocabulary(texts, max_words=60)
    tokenizer = save_tokenizer(vocabulary, folder, max_tokens=64)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
