"""Trains a tiny bilingual encoder for MLBERTScore on a parallel corpus, in a minute or two.

The demo has no model hub. This makes it a real transformers BertModel folder, loaded by the very
code that loads mBERT:

    python -m examples.demo.encoder --source train.en --target train.de --out encoder

The training signal is the metric itself: the similarity of a source and its translation, by greedy
matching of token vectors, must exceed that of the source and any other translation in the batch,
and that of the source and its translation with one word replaced, dropped or moved.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm
from transformers import BertConfig, BertModel, BertTokenizerFast

from examples.demo.wordpieces import build_vocabulary, save_tokenizer
from fairseq_mcts.metrics.system_output import read_lines

# Sharpness of the contrast: similarities differ by a few hundredths where one word is wrong.
_TEMPERATURE = 0.03
_WINDOW = 16  # batches' worth of neighbours by length that a batch is drawn from
_SECONDS_BETWEEN_LINES = 2.0  # of progress, which often goes into a log


@dataclass(frozen=True)
class EncoderTraining:
    """Size of the encoder and length of its training."""

    width: int = 96
    layers: int = 2
    heads: int = 4
    max_tokens: int = 128
    max_words: int = 8000
    steps: int = 1000
    batch_size: int = 32
    corruptions: int = 2  # corrupted versions of each translation
    learning_rate: float = 1e-3
    seed: int = 1


def train_encoder(
    sources: Sequence[str], translations: Sequence[str], out: Path, training: EncoderTraining
) -> None:
    """Train on the pairs and write a model folder to `out`; same seed, same weights."""
    pairs = [(s, t) for s, t in zip(sources, translations, strict=True) if s.strip() and t.strip()]
    if len(pairs) < training.batch_size:
        raise ValueError(
            f"{len(pairs)} sentence pairs are too few: a batch holds {training.batch_size}"
        )
    torch.manual_seed(training.seed)
    torch.set_flush_denormal(True)  # denormal numbers slow CPUs down
    rng = random.Random(training.seed)
    vocabulary = build_vocabulary((text for pair in pairs for text in pair), training.max_words)
    tokenizer = save_tokenizer(vocabulary, out, training.max_tokens)
    model = BertModel(_bert_config(len(tokenizer), training), add_pooling_layer=False)
    # Texts of similar length make a batch: less padding, and harder choices.
    pairs.sort(key=lambda pair: (len(pair[1].split()), pair))
    window = min(_WINDOW * training.batch_size, len(pairs))
    corrupter = Corrupter([target for _, target in pairs], rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=training.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, training.learning_rate, total_steps=training.steps, pct_start=0.1
    )
    model.train()
    progress = tqdm(range(training.steps), desc="encoder", mininterval=_SECONDS_BETWEEN_LINES)
    for _ in progress:
        start = rng.randrange(len(pairs) - window + 1)
        batch = rng.sample(pairs[start : start + window], training.batch_size)
        corrupted = [
            corrupter.corrupt(target) for _ in range(training.corruptions) for _, target in batch
        ]
        # Right and corrupted targets in one pass: they have the same lengths.
        targets = _embed(model, tokenizer, [target for _, target in batch] + corrupted)
        loss = contrastive_loss(
            _embed(model, tokenizer, [source for source, _ in batch]),
            targets.choose(slice(None, training.batch_size)),
            targets.choose(slice(training.batch_size, None)),
        )
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        progress.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
    model.eval()
    model.save_pretrained(out)


class Corrupter:
    """Makes a wrong translation out of a right one by changing one word."""

    def __init__(self, texts: Sequence[str], rng: random.Random) -> None:
        # Repetitions kept: frequent words are the likely mistakes.
        self._words = [word for text in texts for word in text.split()]
        self._rng = rng

    def corrupt(self, text: str) -> str:
        """`text` with one word replaced (mostly), dropped, or exchanged with its neighbour."""
        words = text.split()
        place = self._rng.randrange(len(words))
        kind = self._rng.random()
        if kind < 0.25 and len(words) > 1:
            del words[place]
        elif kind < 0.35 and place > 0:
            words[place - 1], words[place] = words[place], words[place - 1]
        else:
            words[place] = self._rng.choice(self._words)
        return " ".join(words)


class Texts(NamedTuple):
    """Token vectors of a batch of texts."""

    vectors: Tensor  # [B, T, D] of length 1
    mask: Tensor  # [B, T] true for tokens that count in the metric

    def choose(self, rows: slice) -> "Texts":
        return Texts(self.vectors[rows], self.mask[rows])


def matching_score(
    similarity: Tensor,  # [..., T, U]
    a_mask: Tensor,  # [..., T] true for tokens
    b_mask: Tensor,  # [..., U]
) -> Tensor:
    """Mean of precision and recall of greedy matching `# [...]`; near F1, but without its pole."""
    nothing = torch.finfo(similarity.dtype).min
    best_b = similarity.masked_fill(~b_mask.unsqueeze(-2), nothing).amax(dim=-1)  # [..., T]
    best_a = similarity.masked_fill(~a_mask.unsqueeze(-1), nothing).amax(dim=-2)  # [..., U]
    precision = (best_b * a_mask).sum(dim=-1) / a_mask.sum(dim=-1)
    recall = (best_a * b_mask).sum(dim=-1) / b_mask.sum(dim=-1)
    return (precision + recall) / 2


def contrastive_loss(sources: Texts, targets: Texts, corrupted: Texts) -> Tensor:
    """Contrastive loss: every source must find its translation, and every translation its source.

    `corrupted` holds one version of each target, then a second one of each, and so on. A source
    chooses among all targets and the corrupted versions of its own; those of others would be
    easier than their originals and teach nothing new.
    """
    size = len(sources.mask)
    every = torch.einsum("atd,bud->abtu", sources.vectors, targets.vectors)  # [B, B, T, U]
    scores = matching_score(every, sources.mask[:, None], targets.mask[None])  # [B, B]
    own = []  # one [B] per corrupted version
    for start in range(0, len(corrupted.mask), size):
        version = corrupted.choose(slice(start, start + size))
        similarity = torch.bmm(sources.vectors, version.vectors.transpose(1, 2))  # [B, T, U]
        own.append(matching_score(similarity, sources.mask, version.mask))
    choices = torch.cat([scores, torch.stack(own, dim=1)], dim=1)  # [B, B + K]
    true = torch.arange(size)
    return (
        functional.cross_entropy(choices / _TEMPERATURE, true)
        + functional.cross_entropy(scores.T / _TEMPERATURE, true)
    ) / 2


def _embed(model: BertModel, tokenizer: BertTokenizerFast, texts: Sequence[str]) -> Texts:
    batch = tokenizer(
        list(texts), padding=True, truncation=True, return_tensors="pt", return_token_type_ids=False
    )
    hidden = model(**batch).last_hidden_state  # [B, T, D]
    special = (batch.input_ids == tokenizer.cls_token_id) | (
        batch.input_ids == tokenizer.sep_token_id
    )
    return Texts(functional.normalize(hidden, dim=-1), batch.attention_mask.bool() & ~special)


def _bert_config(vocabulary: int, training: EncoderTraining) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=training.width,
        num_hidden_layers=training.layers,
        num_attention_heads=training.heads,
        intermediate_size=2 * training.width,
        max_position_embeddings=training.max_tokens,
        hidden_dropout_prob=0.0,  # one short pass over the data: nothing to overfit
        attention_probs_dropout_prob=0.0,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    defaults = EncoderTraining()
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo.encoder",
        description="Train a tiny bilingual encoder for MLBERTScore on a parallel corpus.",
    )
    parser.add_argument("--source", required=True, help="sentences of one language, one a line")
    parser.add_argument("--target", required=True, help="their translations")
    parser.add_argument("--out", required=True, type=Path, help="folder of the model")
    parser.add_argument("--steps", type=int, default=defaults.steps, help="(default: %(default)s)")
    parser.add_argument("--width", type=int, default=defaults.width, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="(default: %(default)s)")
    options = parser.parse_args(arguments)
    sources, targets = read_lines(options.source), read_lines(options.target)
    if len(sources) != len(targets):
        parser.error(
            f"{options.source} has {len(sources)} lines, {options.target} has {len(targets)}"
        )
    training = EncoderTraining(steps=options.steps, width=options.width, seed=options.seed)
    train_encoder(sources, targets, options.out, training)
    print(f"encoder: saved to {options.out}")


if __name__ == "__main__":
    main()
