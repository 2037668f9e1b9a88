"""A value head that compares each token with the source: what was said, and what is still to come.

A decoder's features after y1..yt are made to predict y(t+1): they hardly know how well y(t) itself
renders the source, and from scores of whole sentences that takes very long to learn. So this head
is built as an estimator of translation quality (the predictor-estimator of Kim et al. 2017): it
sees what the policy had expected before each token (the features before it) beside the token that
came, and compares tokens with the source as late interaction does (Khattab & Zaharia 2020): the
best match of each token in the source, and of each source token among the tokens so far.

All that a prefix leaves to longer ones are sums and maxima over its tokens. Training computes them
for all positions at once; a search keeps them with each prefix (decoding/comparing_values.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_mcts.models.value_head import ValueHead, bucket_means, expected_value

RowFunction = Callable[[Tensor], Tensor]  # [..., C] -> [..., D]

_LENGTH_SCALE = 1 / 20  # lengths as numbers of about one
_LOGPROB_SCALE = 1 / 3
NO_MATCH = -1.0  # the least cosine: of tokens that there are none to compare with


class Prefixes(NamedTuple):
    """What the head reads of the prefixes of B rows of up to T - 1 tokens, beside the features.

    Rows of one source have many prefixes in common, so what is known of a prefix stands there once:
    U different ones, and which of them ends at each position.
    """

    embedded: Tensor  # [U, E] the decoder's embedding of the last token, or of the start symbol
    logprobs: Tensor  # float32 [U] the policy's log-probability of it; 0 of the start symbol
    parents: Tensor  # [U] the prefix without it; -1 of the empty prefix
    at: Tensor  # [B, T] which prefix ends there; any at padding
    is_word: Tensor  # bool [B, T] neither start symbol nor eos nor padding
    is_finished: Tensor  # bool [B, T] whether the token is the closing eos
    wanted: Tensor  # bool [B, T] where values are to be read, P of them
    source: Tensor  # [G, S, C] the encoder's states of G sources
    source_padding: Tensor  # bool [G, S]
    source_of_row: Tensor  # [B]


class Compared(NamedTuple):
    """What the head says of P positions of B rows, and how it has matched their tokens."""

    logits: Tensor  # [P, K] over the buckets
    values: Tensor  # float32 [P]
    similarities: Tensor  # [B, T, S] of words and source tokens, by the first comparison


@dataclass(frozen=True)
class Sizes:
    """Widths of the head; for policies some 256 wide."""

    width: int = 256  # of what is known of a token
    heads: int = 8  # comparisons of a token with the source, each of its own kind
    head_size: int = 32
    pooled: int = 64  # learned numbers of a token whose mean over the prefix is read

    @property
    def summed(self) -> int:
        """Z: numbers of a token whose sum a prefix keeps."""
        return self.pooled + self.heads + 1


class Comparison:
    """The head's arithmetic for rows [..., ·] of any shape, its layers given as functions: modules
    in training, products of packed weights in a search."""

    def __init__(
        self, head: "ComparingValueHead", as_function: Callable[[nn.Module], RowFunction]
    ) -> None:
        self._sizes = head.sizes
        self._dropout: RowFunction = head.dropout if head.training else _identity
        self.feature_norm = as_function(head.feature_norm)
        self._token_norm = as_function(head.token_norm)
        self._token_in, self._token_out = as_function(head.token_in), as_function(head.token_out)
        self._known_norm = as_function(head.known_norm)
        self._said, self._promised = as_function(head.said), as_function(head.promised)
        self._pool = as_function(head.pool)
        self._value_in, self._value_out = as_function(head.value_in), as_function(head.value_out)
        self._projection = as_function(head.projection)

    def token_knowledge(
        self,
        before: Tensor,  # [..., C] normed features before the token, 0 of the start symbol
        embedded: Tensor,  # [..., E]
        after: Tensor,  # [..., C] normed features after it
        logprobs: Tensor,  # [...]
    ) -> Tensor:  # [..., W]
        """What is known of a token: what was expected, what came, what is expected now."""
        logprobs = (logprobs * _LOGPROB_SCALE).unsqueeze(-1).to(after)
        parts = torch.cat([before, self._token_norm(embedded), after, logprobs], dim=-1)
        return self._known_norm(self._token_out(F.relu(self._token_in(self._dropout(parts)))))

    def said_queries(self, known: Tensor) -> Tensor:
        """[..., W] -> [..., H, d] of length one."""
        return F.normalize(by_head(self._said(known), self._sizes), dim=-1)

    def promised_queries(self, after: Tensor) -> Tensor:
        """Normed features [..., C] -> [..., H, d], scaled."""
        return by_head(self._promised(after), self._sizes) * float(self._sizes.head_size) ** -0.5

    def token_summands(self, known: Tensor, logprobs: Tensor) -> Tensor:
        """[..., W], [...] -> [..., Z - H]: what a prefix sums up over its words, beside their best
        matches."""
        logprobs = (logprobs * _LOGPROB_SCALE).unsqueeze(-1).to(known)
        return torch.cat([self._pool(known), logprobs], dim=-1)

    def bucket_logits(
        self,
        after: Tensor,  # [..., C]
        known: Tensor,  # [..., W]
        mean: Tensor,  # [..., Z] of the summands and best matches, over the prefix' words
        matches: Tensor,  # [..., 3 H] see `forward`
        words: Tensor,  # [...] of the prefix
        source_length: Tensor,  # [...]
        is_finished: Tensor,  # bool [...]
    ) -> Tensor:  # [..., K]
        """The value's distribution."""
        lengths = torch.stack(
            [
                words * _LENGTH_SCALE,
                source_length * _LENGTH_SCALE,
                words / source_length,
                is_finished.to(words),
            ],
            dim=-1,
        )
        read = torch.cat([after, known, mean, matches, lengths], dim=-1)
        hidden = F.relu(self._value_out(F.relu(self._value_in(self._dropout(read)))))
        return self._projection(hidden)


class ComparingValueHead(ValueHead):
    """Bucket logits from features, tokens and source; see the top of this file."""

    def __init__(
        self,
        embed_dim: int,
        *,
        token_dim: int,
        source_dim: int,
        sizes: Sizes | None = None,
        dropout: float = 0.1,
        **buckets: Any,
    ) -> None:
        """Features are `embed_dim` wide, embedded tokens `token_dim`, encoder states `source_dim`;
        `buckets` are those of `ValueHead`."""
        sizes = sizes or Sizes()
        super().__init__(sizes.width, **buckets)
        self.sizes = sizes
        width, compared = sizes.width, sizes.heads * sizes.head_size
        self.dropout = nn.Dropout(dropout)
        self.feature_norm = nn.LayerNorm(embed_dim)
        self.token_norm = nn.LayerNorm(token_dim)
        self.source_norm = nn.LayerNorm(source_dim)
        self.token_in = nn.Linear(2 * embed_dim + token_dim + 1, width)
        self.token_out = nn.Linear(width, width)
        self.known_norm = nn.LayerNorm(width)
        self.said = nn.Linear(width, compared)
        self.promised = nn.Linear(embed_dim, compared)
        self.source_in = nn.Linear(source_dim, width)
        self.source_out = nn.Linear(width, 2 * compared)
        self.pool = nn.Linear(width, sizes.pooled)
        self.value_in = nn.Linear(embed_dim + width + sizes.summed + 3 * sizes.heads + 4, width)
        self.value_out = nn.Linear(width, width)

    def source_keys(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """[G, S, C] -> [G, H, S, d] for what was said, of length one, and for what is promised."""
        hidden = F.relu(self.source_in(self.dropout(self.source_norm(states))))
        keys = (by_head(one, self.sizes) for one in self.source_out(hidden).chunk(2, dim=-1))
        said, promised = (one.transpose(1, 2) for one in keys)
        return F.normalize(said, dim=-1), promised

    def forward(  # type: ignore[override]
        self, features: Tensor, prefixes: Prefixes
    ) -> Compared:
        """From the features [U, C] of the prefixes."""
        rows = Comparison(self, lambda module: module)
        at, is_word, wanted = prefixes.at, prefixes.is_word, prefixes.wanted
        after = rows.feature_norm(features)
        before = after[prefixes.parents].masked_fill((prefixes.parents < 0).unsqueeze(1), 0.0)
        known = rows.token_knowledge(before, prefixes.embedded, after, prefixes.logprobs)

        said_keys, promised_keys = (
            keys[prefixes.source_of_row] for keys in self.source_keys(prefixes.source)
        )
        padding = prefixes.source_padding[prefixes.source_of_row]  # [B, S]
        match = _products(rows.said_queries(known)[at], said_keys)  # [B, T, H, S]
        hidden = padding[:, None, None] | ~is_word[:, :, None, None]
        match = match.masked_fill(hidden, NO_MATCH)
        best = match.amax(dim=-1)  # [B, T, H]
        said = match.cummax(dim=1).values
        promised = F.softsign(_products(rows.promised_queries(after)[at], promised_keys))
        covered = torch.maximum(said, promised)

        counted = (~padding).to(features)  # [B, S]
        source_length = counted.sum(dim=-1)  # [B]
        share = (counted / source_length[:, None])[:, None, None]  # [B, 1, 1, S]
        matches = torch.cat(
            [best, (said * share).sum(dim=-1), (covered * share).sum(dim=-1)], dim=-1
        )
        words = is_word.to(features).cumsum(dim=1)  # [B, T]
        summed = torch.cat([rows.token_summands(known, prefixes.logprobs)[at], best], dim=-1)
        summed = (summed * is_word.unsqueeze(-1)).cumsum(dim=1)
        mean = summed / words.clamp_min(1.0).unsqueeze(-1)
        lengths = source_length.unsqueeze(1).expand_as(words)
        logits = rows.bucket_logits(
            after[at[wanted]],
            known[at[wanted]],
            mean[wanted],
            matches[wanted],
            words[wanted],
            lengths[wanted],
            prefixes.is_finished[wanted],
        )
        values = expected_value(logits, bucket_means(self.bucket_edges))
        return Compared(logits, values, match[:, :, 0])


def by_head(rows: Tensor, sizes: Sizes) -> Tensor:
    """[..., H · d] -> [..., H, d]"""
    return rows.view(*rows.shape[:-1], sizes.heads, sizes.head_size)


def _products(queries: Tensor, keys: Tensor) -> Tensor:
    """[B, T, H, d], [B, H, S, d] -> [B, T, H, S]"""
    return (queries.transpose(1, 2) @ keys.transpose(-1, -2)).transpose(1, 2)


def _identity(rows: Tensor) -> Tensor:
    return rows
