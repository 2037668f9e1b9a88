"""Small random networks, and the slow truth about them: full forward passes without any cache."""

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.models.lstm import LSTMModel
from fairseq.models.transformer import TransformerModel

from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.models.comparing_head import ComparingValueHead, Sizes
from fairseq_mcts.models.policy_with_value import PolicyWithValueModel, TowerValueHead
from fairseq_mcts.models.value_head import has_value_head
from tests.models.toys import DUAL, EOS, PAD, POLICY, Batch, make_batch, make_model, toy_task

VOCABULARY = Vocabulary(eos=EOS, pad=PAD, forbidden=(0, PAD))

TRANSFORMERS: dict[str, dict[str, Any]] = {
    "post_norm": {},
    "pre_norm_learned": {
        "decoder_normalize_before": True,
        "encoder_normalize_before": True,
        "decoder_learned_pos": True,
    },
    "tied_projected": {
        "share_decoder_input_output_embed": True,
        "decoder_embed_dim": 32,
        "decoder_output_dim": 32,
        "layernorm_embedding": True,
    },
    "adaptive": {"adaptive_softmax_cutoff": "10,20"},
    "scaled": {
        "scale_fc": True,
        "scale_attn": True,
        "scale_heads": True,
        "scale_resids": True,
        "activation_fn": "gelu",
    },
    "no_positions": {"no_token_positional_embeddings": True},
}


def sharpen(model: Any, seed: int = 3) -> Any:
    """Random weights with opinions: policies neither flat nor the same everywhere."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.decoder.named_parameters():
            if parameter.dim() > 1 and "embed" not in name:
                noise = torch.randn(parameter.shape, generator=generator)
                parameter.copy_(noise * 1.5 / parameter.shape[1] ** 0.5)
    return model.eval()


def fairseq_transformer(**options: Any) -> Any:
    """An ordinary fairseq transformer, small."""
    torch.manual_seed(5)
    sizes = {
        "encoder_embed_dim": 32,
        "decoder_embed_dim": 32,
        "encoder_ffn_embed_dim": 48,
        "decoder_ffn_embed_dim": 48,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "max_target_positions": 40,
        "max_source_positions": 40,
    }
    args = Namespace(**{**sizes, **options})
    ARCH_CONFIG_REGISTRY["transformer"](args)
    return sharpen(TransformerModel.build_model(args, toy_task()))


def lstm() -> Any:
    """A decoder that can't be stepped."""
    torch.manual_seed(6)
    args = Namespace(
        encoder_embed_dim=16,
        decoder_embed_dim=16,
        decoder_out_embed_dim=16,
        encoder_hidden_size=16,
        decoder_hidden_size=16,
    )
    ARCH_CONFIG_REGISTRY["lstm"](args)
    args.criterion = "cross_entropy"
    args.max_source_positions = args.max_target_positions = 100
    return sharpen(LSTMModel.build_model(args, toy_task()))


def dual_head(seed: int = 1) -> Any:
    """This project's policy and value in one."""
    return sharpen(make_model(DUAL, seed=seed), seed)


def multiquery_policy() -> Any:
    """This project's policy without a value."""
    return sharpen(make_model(POLICY, seed=2), 2)


def policy_with_value(policy: Any) -> Any:
    """A policy that got a value head later."""
    torch.manual_seed(7)
    head = TowerValueHead(32, layers=1, low=-0.5, high=1.0, buckets=30)
    torch.nn.init.normal_(head.projection.weight, std=0.5)
    return PolicyWithValueModel(policy, head, freeze=True, policy_model="{}").eval()


def policy_with_comparing_value(policy: Any) -> Any:
    """A policy whose value head compares tokens with the source."""
    torch.manual_seed(8)
    head = ComparingValueHead(
        policy.decoder.output_projection.in_features,
        token_dim=policy.decoder.embed_tokens.embedding_dim,
        source_dim=policy.encoder.layers[-1].final_layer_norm.normalized_shape[0],
        # columns in eights: on some CPUs products with fewer depend on how many rows there are
        sizes=Sizes(24, 3, 8, 8),
        **{"low": -0.5, "high": 1.0, "buckets": 30},
    )
    model = PolicyWithValueModel(policy, head, freeze=True, policy_model="{}").eval()
    with torch.no_grad():  # values that differ, by each of the parts that the head reads
        for parameter in (head.value_in.weight, head.value_out.weight, head.projection.weight):
            parameter.normal_(std=2.0 / parameter.shape[1] ** 0.5)
    return model


class FullForward:
    """`evaluate` for `fairseq_mcts.search.decode`: each prefix from its beginning, each time."""

    def __init__(
        self, policies: Sequence[Any], values: Sequence[Any], batch: Batch, caution: float = 0.0
    ) -> None:
        """Values are read `caution` standard deviations below their means."""
        self._policies, self._values, self._batch = policies, values, batch
        self._caution = caution

    @torch.no_grad()
    def __call__(
        self, sentences: list[int], prefixes: list[tuple[int, ...]]
    ) -> tuple[np.ndarray, np.ndarray]:
        logprobs, values = [], np.zeros(len(prefixes))
        places = []
        for sentence in dict.fromkeys(sentences):
            rows = [row for row, one in enumerate(sentences) if one == sentence]
            policy, value = self._evaluate(sentence, [prefixes[row] for row in rows])
            logprobs.append(policy)
            values[rows] = value
            places += rows
        return np.concatenate(logprobs)[np.argsort(places)], values

    def _evaluate(
        self, sentence: int, prefixes: list[tuple[int, ...]]
    ) -> tuple[np.ndarray, np.ndarray | float]:
        """Log-probabilities [n, V] and values [n] of prefixes of one sentence."""
        source = self._batch.row(sentence)
        tokens = torch.full((len(prefixes), max(map(len, prefixes)) + 1), PAD)
        for row, prefix in enumerate(prefixes):
            tokens[row, : len(prefix) + 1] = torch.tensor((EOS, *prefix))
        last = (torch.arange(len(prefixes)), torch.tensor([len(prefix) for prefix in prefixes]))

        def run(model: Any) -> Any:
            count = len(prefixes)
            return model(
                source.src_tokens.expand(count, -1), source.src_lengths.expand(count), tokens
            )

        each = [
            model.get_normalized_probs(run(model), log_probs=True)[last].double()
            for model in self._policies
        ]
        logprobs = torch.logsumexp(torch.stack(each), 0).numpy() - np.log(len(each))
        heads = [run(model)[1]["value"][last] for model in self._values if has_value_head(model)]
        values = torch.stack(heads).mean(dim=0).numpy() if heads else 0.0
        if self._caution:
            logits = [
                run(model)[1]["value_logits"][last].double().numpy() for model in self._values
            ]
            edges = [one.decoder.value_head.bucket_edges.double().numpy() for one in self._values]
            members = [list(zip(row, edges, strict=True)) for row in zip(*logits, strict=True)]
            values = np.array([cautious_value(row, self._caution) for row in members])
        return logprobs, values


def cautious_value(members: Sequence[tuple[np.ndarray, np.ndarray]], caution: float) -> float:
    """The mean less `caution` standard deviations of the mixture of several distributions, each
    given by logits [K] and edges [K + 1] of its buckets: of all buckets of all, one by one."""
    scores, probabilities = [], []
    for logits, edges in members:
        weights = np.exp(logits - logits.max())
        scores += [(low + high) / 2 for low, high in pairwise(edges)]
        probabilities += list(weights / weights.sum() / len(members))
    mean = sum(p * score for p, score in zip(probabilities, scores, strict=True))
    variance = sum(p * (score - mean) ** 2 for p, score in zip(probabilities, scores, strict=True))
    return float(mean - caution * variance**0.5)


def sources(batch: Batch) -> list[torch.Tensor]:
    """Source sentences as the evaluator takes them: without padding."""
    lengths = batch.src_lengths.tolist()
    return [row[-length:] for row, length in zip(batch.src_tokens, lengths, strict=True)]


# longest first, as fairseq sorts a batch: its LSTM insists on it
BATCH = make_batch((12, 9, 7, 4, 1), (1, 1, 1, 1, 1))
