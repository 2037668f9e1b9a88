"""Small COMET models with random weights, made and saved by unbabel-comet itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import yaml


def make_encoder(folder: Path, lines: Sequence[str]) -> Path:
    """An XLM-R folder: sentencepiece model, configuration, weights."""
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast

    folder.mkdir(parents=True)
    text = folder / "lines.txt"
    text.write_text("\n".join(lines), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "sentencepiece.bpe"),
        vocab_size=120,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    tokenizer = XLMRobertaTokenizerFast(vocab_file=str(folder / "sentencepiece.bpe.model"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=130,
        pad_token_id=tokenizer.pad_token_id,
    )
    XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def save_model(folder: Path, kind: str, encoder: Path, **options: Any) -> Path:
    """A model of unbabel-comet's class `kind`, as Lightning saves it; the checkpoint file."""
    import comet.models
    import pytorch_lightning

    torch.manual_seed(5)
    hidden = {"hidden_sizes": [24, 12]}
    model = comet.models.str2model[kind](pretrained_model=str(encoder), **hidden, **options)
    # random heads give almost the same score to all
    for parameter in model.estimator.parameters():
        parameter.data *= 3
    path = folder / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.strategy.connect(model)
    trainer.save_checkpoint(path)
    settings = {**model.hparams, "class_identifier": kind}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return path
