"""Networks of the benchmarked sizes with random weights, and sentences for them.

Plain random weights would say nothing about decoding: every policy is flat and no sentence ends.
So the output layer is made to look like a trained one, by two numbers that `calibrate` finds:

- the most probable token has a probability of `TOP_PROBABILITY` on average, as in translation
  models after training with label smoothing;
- eos gains on the others with the position and overtakes them around `TYPICAL_LENGTH`, so that
  sentences end of themselves, at different lengths. `MIN_LENGTH` and `MAX_LENGTH` catch the rest.

All of it is in the weights, so every decoder, fairseq's and CTranslate2's too, sees the same.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import (
    ARCH_CONFIG_REGISTRY,
    ARCH_MODEL_NAME_REGISTRY,
    ARCH_MODEL_REGISTRY,
    MODEL_DATACLASS_REGISTRY,
)
from fairseq.models.transformer import TransformerModel
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

import fairseq_mcts.models  # noqa: F401 - registers the architectures
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.metrics import Metric
from fairseq_mcts.metrics.text import TextDecoder, TextDecoders
from fairseq_mcts.models.sizes import SIZES, apply_size
from fairseq_mcts.search import Decoder

VOCABULARIES = {"tiny": 500, "small": 8_000, "base": 32_000}
MAX_POSITIONS = 128
# tokens of a sentence without eos, as in real text
MIN_LENGTH, TYPICAL_LENGTH, MAX_LENGTH = 12, 20, 30
TOP_PROBABILITY = 0.7
SPECIAL_SYMBOLS = 4  # bos, pad, eos, unk
SEARCH_SEED = 1  # of searches that draw


def settings() -> dict[str, Any]:
    """What a report should say of all this."""
    return {
        "weights": f"random, best token {TOP_PROBABILITY} on average",
        "lengths": f"{MIN_LENGTH} to {MAX_LENGTH}, eos overtakes around {TYPICAL_LENGTH}",
    }


@dataclass(frozen=True)
class Task:
    """As much of a fairseq task as building a model takes."""

    source_dictionary: Dictionary
    target_dictionary: Dictionary


def make_task(size: str, vocabulary: int | None = None) -> Task:
    """One dictionary for both sides, of the usual number of words unless given."""
    dictionary = Dictionary()
    for index in range((vocabulary or VOCABULARIES[size]) - SPECIAL_SYMBOLS):
        dictionary.add_symbol(f"w{index}")
    return Task(dictionary, dictionary)


def multiquery(
    family: str, size: str, seed: int, *, vocabulary: int | None = None, **given: Any
) -> Any:
    """This project's architecture: "multiquery_transformer" or "dual_head_…"."""
    arch = f"{family}_{size}"
    options = Namespace(
        decoder_learned_pos=True,
        max_source_positions=MAX_POSITIONS,
        max_target_positions=MAX_POSITIONS,
        **given,
    )
    ARCH_CONFIG_REGISTRY[arch](options)
    cfg = MODEL_DATACLASS_REGISTRY[ARCH_MODEL_NAME_REGISTRY[arch]].from_namespace(options)
    task = make_task(size, vocabulary)
    return calibrate(ARCH_MODEL_REGISTRY[arch].build_model(cfg, task), seed)


def multihead(size: str, seed: int, **given: Any) -> Any:
    """fairseq's own transformer, as wide and deep as the multi-query one of that size."""
    sizes = Namespace()
    apply_size(size, sizes)
    width = int(SIZES[size]["decoder_embed_dim"])
    options = Namespace(
        encoder_embed_dim=width,
        decoder_embed_dim=width,
        encoder_ffn_embed_dim=sizes.encoder_ffn_embed_dim,
        decoder_ffn_embed_dim=sizes.decoder_ffn_embed_dim,
        encoder_layers=sizes.encoder_layers,
        decoder_layers=sizes.decoder_layers,
        encoder_attention_heads=width // 64 if width >= 128 else 2,
        decoder_attention_heads=width // 64 if width >= 128 else 2,
        encoder_normalize_before=True,
        decoder_normalize_before=True,
        decoder_learned_pos=True,
        max_source_positions=MAX_POSITIONS,
        max_target_positions=MAX_POSITIONS,
    )
    vars(options).update(given)
    ARCH_CONFIG_REGISTRY["transformer"](options)
    return calibrate(TransformerModel.build_model(options, make_task(size)), seed)


@torch.no_grad()
def calibrate(model: Any, seed: int) -> Any:
    """Random weights with opinions, ready to decode; see the top of this file."""
    dice = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            noise = torch.randn(parameter.shape, generator=dice)
            parameter.copy_(noise / parameter.shape[1] ** 0.5)
        elif name.endswith("bias"):
            parameter.zero_()
    model.eval()

    decoder = model.decoder
    width = decoder.embed_tokens.embedding_dim
    towards_eos = torch.nn.functional.normalize(torch.randn(width, generator=dice), dim=0)
    positions = decoder.embed_positions
    first = positions.padding_idx + 1
    ramp = torch.arange(len(positions.weight) - first) / TYPICAL_LENGTH
    positions.weight[first:] += ramp[:, None] * towards_eos * width**0.5

    features = _features_of_random_prefixes(model, dice)  # [B, T, C]
    output = decoder.output_projection.weight
    output[:SPECIAL_SYMBOLS] = 0.0  # never the best; eos comes below
    logits = features[:, :MIN_LENGTH] @ output.T
    gain = _gain(logits.flatten(0, 1))
    output *= gain
    at_end = features[:, TYPICAL_LENGTH]
    best = (at_end @ output.T).amax(dim=-1).median()
    output[decoder.dictionary.eos()] = towards_eos * best / (at_end @ towards_eos).median()
    model.make_generation_fast_()  # as fairseq's commands do before they decode
    return model


def _features_of_random_prefixes(model: Any, dice: torch.Generator) -> Tensor:
    """[B, T, C] of 32 random sources and prefixes of the typical length."""
    vocabulary = len(model.decoder.dictionary)
    eos = model.decoder.dictionary.eos()
    shape = (32, TYPICAL_LENGTH + 1)
    tokens = torch.randint(SPECIAL_SYMBOLS, vocabulary, (2, *shape), generator=dice)
    sources, prefixes = tokens
    sources[:, -1] = eos
    prefixes[:, 0] = eos
    encoder_out = model.encoder(sources, src_lengths=torch.full((32,), shape[1]))
    return model.decoder.extract_features(prefixes, encoder_out=encoder_out)[0]


def _gain(logits: Tensor) -> float:
    """What to multiply logits [n, V] by, so that the best probability is as wanted on average."""
    low, high = 0.0, 1000.0
    for _ in range(40):
        middle = (low + high) / 2
        best = torch.softmax(middle * logits, dim=-1).amax(dim=-1).mean()
        low, high = (middle, high) if best < TOP_PROBABILITY else (low, middle)
    return high


def make_sources(dictionary: Dictionary, count: int, seed: int) -> list[Tensor]:
    """Random sentences of 12 to 30 tokens, eos at the end; the longest first, as fairseq sorts."""
    dice = torch.Generator().manual_seed(seed + 1000)
    lengths = torch.randint(MIN_LENGTH, MAX_LENGTH + 1, (count,), generator=dice)
    eos = torch.tensor([dictionary.eos()])
    return [
        torch.cat([torch.randint(SPECIAL_SYMBOLS, len(dictionary), (length,), generator=dice), eos])
        for length in sorted(lengths.tolist(), reverse=True)
    ]


def make_sample(model: Any, sources: Sequence[Tensor]) -> dict[str, Any]:
    """A batch as fairseq's translation task makes it: padding on the left."""
    longest = max(map(len, sources))
    tokens = torch.full((len(sources), longest), model.encoder.dictionary.pad())
    for row, source in enumerate(sources):
        tokens[row, longest - len(source) :] = source
    lengths = torch.tensor([len(source) for source in sources])
    device = next(model.parameters()).device
    net_input = {"src_tokens": tokens.to(device), "src_lengths": lengths.to(device)}
    return {"net_input": net_input}


def limits(**given: Any) -> Limits:
    """The lengths of real text, for the searches."""
    return Limits(**{"max_len_b": MAX_LENGTH, "min_len": MIN_LENGTH, **given})


def search_generator(
    model: Any,
    decoder: Decoder[Any],
    lengths: Limits | None = None,
    *,
    metric: Metric | None = None,
) -> SearchGenerator:
    """One of this project's decoders, as `fairseq-generate` would build it."""
    dictionary = model.decoder.dictionary
    return SearchGenerator(
        [model],
        dictionary,
        value_models=[model] if decoder.needs_value else [],
        decoder=decoder,
        limits=lengths or limits(),
        seed=SEARCH_SEED,
        metric=metric,
        text_decoders=lambda: TextDecoders(TextDecoder(dictionary), TextDecoder(dictionary)),
    )


def fairseq_generator(model: Any, beam: int, lengths: Limits | None = None) -> SequenceGenerator:
    """fairseq's own beam search with the same lengths."""
    lengths = lengths or limits()
    return SequenceGenerator(
        [model],
        model.decoder.dictionary,
        beam_size=beam,
        max_len_a=0,
        max_len_b=lengths.max_len_b,
        min_len=lengths.min_len,
    )


def best_tokens(results: Sequence[Sequence[dict[str, Any]]]) -> list[tuple[int, ...]]:
    """The best hypothesis of each sentence, eos included, from a generator's results."""
    return [tuple(hypotheses[0]["tokens"].tolist()) for hypotheses in results]
