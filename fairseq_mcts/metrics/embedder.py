"""Token vectors of texts, and precision and recall of text pairs, computed no more than once.

Search and relabelling ask for thousands of short texts a second, again and again for the same
source. So here a text that is compared with (source or reference) keeps its vectors, a pair keeps
its scores, equal texts are encoded once, and what must be encoded is batched by length.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from fairseq_mcts.metrics.cache import LruCache
from fairseq_mcts.metrics.encoder import Encoder, load_encoder
from fairseq_mcts.metrics.matching import (
    GreedyMatch,
    TokenBatch,
    greedy_match,
    greedy_match_all,
)

Pair = tuple[str, str]  # hypothesis, other

# Long texts make smaller batches, so that one 500-token outlier does not multiply the memory.
_MAX_BATCH_TOKENS = 16_384
# Similarities of tokens that are held at once where all texts are matched with all others.
_MAX_SIMILARITIES = 1 << 22
# Memory for the similarities of tokens of pairs, where these are kept.
_SIMILARITIES_MB = 64
# Texts whose vectors are held at once, beside those that are kept.
_MAX_TEXTS = 4096


class Vectors(NamedTuple):
    """What is kept of a text."""

    embeddings: Tensor  # [T, D] vectors of length 1
    tokens: Tensor  # [T] ids


# Of a pair, special symbols included: [tokens of the hypothesis, tokens of the other]
Similarities = npt.NDArray[np.float32]


class _Matched(NamedTuple):
    """Some pairs and what was found about them."""

    pairs: Sequence[Pair]  # [B]
    hypotheses: TokenBatch
    others: TokenBatch
    found: GreedyMatch

    def similarities(self) -> Iterator[tuple[Pair, Similarities]]:
        """Of each pair, without padding."""
        similarity = self.found.similarity.cpu().numpy()  # [B, T, U]
        lengths = (side.mask.sum(dim=1).tolist() for side in (self.hypotheses, self.others))
        for row, (pair, own, other) in enumerate(zip(self.pairs, *lengths, strict=True)):
            # copies: a view would keep the whole batch alive
            yield pair, similarity[row, :own, :other].copy()


class TextEmbedder:
    """Encodes texts with one encoder, length-sorted, remembering those it was asked to keep."""

    def __init__(self, encoder: Encoder, *, batch_size: int = 64, cache_mb: int = 256) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} must be positive")
        self.encoder = encoder
        self.batch_size = batch_size
        self.device = next(encoder.model.parameters()).device
        self.encoded_texts = 0  # how many really went through the network
        self._kept: LruCache[str, Vectors] = LruCache(cache_mb << 20)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """Encodes `texts` in batches of similar length.

        Yields the positions in `texts` of a batch, its vectors [B, T, D] and ids [B, T];
        what lies behind a text's end is marked by the id -1.
        """
        ids = self.encoder.tokenize(texts)
        order = sorted(range(len(texts)), key=lambda index: len(ids[index]))
        for batch in self._batches(order, [len(row) for row in ids]):
            lengths = torch.tensor([len(ids[index]) for index in batch])  # [B]
            longest = int(lengths.max())
            pad = int(self.encoder.tokenizer.pad_token_id)
            rows = [ids[index] + [pad] * (longest - len(ids[index])) for index in batch]
            padded = torch.tensor(rows).to(self.device)  # [B, T]
            mask = (torch.arange(longest)[None, :] < lengths[:, None]).to(self.device)  # [B, T]
            vectors = self.encoder(padded, mask.long())  # [B, T, D]
            self.encoded_texts += len(batch)
            yield batch, torch.nn.functional.normalize(vectors, dim=-1), padded.where(mask, -1)

    def embed_kept(self, texts: Iterable[str]) -> dict[str, Vectors]:
        """Vectors of texts that will be asked for again, from memory where they are known."""
        found, new = self._kept.partition(texts)
        for batch, embeddings, tokens in self.embed_batches(new):
            for row, index in enumerate(batch):
                length = int((tokens[row] >= 0).sum())
                # A copy: a view would keep the whole batch alive.
                kept = Vectors(embeddings[row, :length].clone(), tokens[row, :length].clone())
                found[new[index]] = kept
                cost = kept.embeddings.nbytes + kept.tokens.nbytes
                self._kept.put(new[index], kept, cost)
        return found

    def _batches(self, order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in order:  # lengths ascend, so the newcomer is the longest
            too_many_tokens = (len(batch) + 1) * lengths[index] > _MAX_BATCH_TOKENS
            if batch and (len(batch) == self.batch_size or too_many_tokens):
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch


class PairScorer:
    """Precision and recall of (hypothesis, other) pairs by greedy matching of token vectors."""

    def __init__(self, embedder: TextEmbedder, *, remembered_pairs: int = 1 << 18) -> None:
        self.embedder = embedder
        self._weights = self._plain_weights()  # [V]
        self._known: LruCache[Pair, tuple[float, float]] = LruCache(remembered_pairs)
        self.keeps_similarities = False  # of pairs that are scored from now on
        self._similarities: LruCache[Pair, Similarities] = LruCache(_SIMILARITIES_MB << 20)

    def fit_idf(self, texts: Sequence[str]) -> None:
        """Weighs tokens by their inverse document frequency in `texts` from now on."""
        if not texts:
            raise ValueError("inverse document frequencies need at least one text")
        counts = torch.zeros_like(self._weights)  # [V]
        for ids in self.embedder.encoder.tokenize(texts):
            counts[torch.tensor(sorted(set(ids)), device=counts.device)] += 1
        self._weights = log(len(texts) + 1) - torch.log(counts + 1)
        self._known.clear()

    @torch.inference_mode()
    def precision_recall(
        self, hypotheses: Sequence[str], others: Sequence[str]
    ) -> list[tuple[float, float]]:
        """(precision, recall) of each pair; pairs known already cost nothing."""
        pairs = list(zip(hypotheses, others, strict=True))
        scores, missing = self._known.partition(pairs)
        for matched in self._match(missing):
            both = zip(matched.found.precision.tolist(), matched.found.recall.tolist(), strict=True)
            for pair, score in zip(matched.pairs, both, strict=True):
                scores[pair] = score
                self._known.put(pair, score)
            if self.keeps_similarities:
                for pair, similarities in matched.similarities():
                    self._similarities.put(pair, similarities, similarities.nbytes)
        return [scores[pair] for pair in pairs]

    @torch.inference_mode()
    def similarities(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[Similarities]:
        """Of the tokens of each pair; pairs of which they were kept cost nothing."""
        pairs = list(zip(hypotheses, others, strict=True))
        found, missing = self._similarities.partition(pairs)
        for matched in self._match(missing):
            found.update(matched.similarities())
        return [found[pair] for pair in pairs]

    @torch.inference_mode()
    def all_precisions_recalls(
        self, groups: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """For each group precision and recall [H, R] of its H hypotheses against its R others.

        Texts of neighbouring groups are encoded together, each once.
        """
        for some in _chunks(groups):
            sides = [text for group in some for side in group for text in side]
            vectors = self.embedder.embed_kept(sides)
            for group in some:
                yield self._match_all(*([vectors[text] for text in side] for side in group))

    def _match_all(
        self, hypotheses: Sequence[Vectors], others: Sequence[Vectors]
    ) -> tuple[Tensor, Tensor]:
        second = self._weigh(*_pad(others))
        longest = max(len(text.tokens) for text in hypotheses)
        size = max(1, _MAX_SIMILARITIES // (longest * second.mask.numel()))
        parts = [
            greedy_match_all(self._weigh(*_pad(hypotheses[start : start + size])), second)
            for start in range(0, len(hypotheses), size)
        ]
        precision, recall = (torch.cat(part) for part in zip(*parts, strict=True))
        return precision, recall

    def _match(self, missing: Sequence[Pair]) -> Iterator[_Matched]:
        new: dict[str, list[str]] = {}  # hypothesis -> what it is to be compared with
        for hypothesis, other in missing:
            new.setdefault(hypothesis, []).append(other)
        kept = self.embedder.embed_kept(other for others in new.values() for other in others)
        texts = list(new)
        for batch, embeddings, tokens in self.embedder.embed_batches(texts):
            rows = [row for row, index in enumerate(batch) for _ in new[texts[index]]]  # [P]
            pairs = [(texts[index], other) for index in batch for other in new[texts[index]]]
            size = self.embedder.batch_size
            for start in range(0, len(pairs), size):
                chunk = pairs[start : start + size]
                chosen = torch.tensor(rows[start : start + size], device=embeddings.device)
                hypotheses = self._weigh(embeddings[chosen], tokens[chosen])
                others = self._weigh(*_pad([kept[other] for _, other in chunk]))
                yield _Matched(chunk, hypotheses, others, greedy_match(hypotheses, others))

    def _plain_weights(self) -> Tensor:
        """All tokens weigh the same, but for the symbols that open and close a text: [V]."""
        tokenizer = self.embedder.encoder.tokenizer
        weights = torch.ones(len(tokenizer), device=self.embedder.device)
        for symbol in (tokenizer.cls_token_id, tokenizer.sep_token_id):
            if symbol is not None:
                weights[symbol] = 0.0
        return weights

    def _weigh(self, embeddings: Tensor, tokens: Tensor) -> TokenBatch:
        """One side of a batch from vectors [B, T, D] and ids [B, T], padded with -1."""
        mask = tokens >= 0
        return TokenBatch(embeddings, self._weights[tokens.clamp_min(0)] * mask, mask)


def _chunks(
    groups: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> Iterator[list[tuple[Sequence[str], Sequence[str]]]]:
    """The groups in their order, as many together as have few enough texts."""
    chunk: list[tuple[Sequence[str], Sequence[str]]] = []
    texts = 0
    for group in groups:
        size = sum(map(len, group))
        if chunk and texts + size > _MAX_TEXTS:
            yield chunk
            chunk, texts = [], 0
        chunk.append(group)
        texts += size
    if chunk:
        yield chunk


def _pad(texts: Sequence[Vectors]) -> tuple[Tensor, Tensor]:
    """Kept texts as one batch: vectors [B, U, D] and ids [B, U], -1 behind the end."""
    return (
        pad_sequence([text.embeddings for text in texts], batch_first=True),
        pad_sequence([text.tokens for text in texts], batch_first=True, padding_value=-1),
    )


@lru_cache(maxsize=4)
def shared_embedder(
    model: str, layer: int | None, device: str | None, batch_size: int, cache_mb: int
) -> TextEmbedder:
    """One embedder for all metrics with the same settings: weights are loaded once."""
    encoder = load_encoder(model, layer, device)
    return TextEmbedder(encoder, batch_size=batch_size, cache_mb=cache_mb)
