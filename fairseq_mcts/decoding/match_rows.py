"""Tokens of prefixes matched with their sources, for `comparing_values`: compiled and by tensors.

A prefix keeps, for each token of its source and each head, the best match among its own tokens. The
compiled form goes row by row, so that a row's numbers depend on that row alone.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fairseq_mcts.decoding.step_batch import index_tensor
from fairseq_mcts.models.comparing_head import NO_MATCH
from fairseq_mcts.search.compiled import compiled, compiled_for_vectors
from fairseq_mcts.search.row_sums import Float32
from fairseq_mcts.search.tree import Bool, Int32

Int64 = NDArray[np.int64]

_ZERO, _ONE, _LEAST = np.float32(0.0), np.float32(1.0), np.float32(NO_MATCH)


class MatchRows(NamedTuple):
    """n rows to be matched."""

    said: Tensor  # [n, H, d] queries of the last token
    promised: Tensor  # [n, H, d] queries of what is still to come
    sentences: Int32  # [n]
    slots: Tensor  # [n]
    parents: Tensor  # [n] slots; any for the empty prefix
    is_empty: Tensor  # bool [n] the empty prefix, which has no parent
    is_word: Tensor  # bool [n] whether the last token is compared at all


class SourceMatches(NamedTuple):
    """Keys of G sources of up to S tokens, and the best matches that prefixes have found."""

    said: Tensor  # [G, H, S, d]
    promised: Tensor  # [G, H, S, d]
    lengths: Tensor  # int64 [G]
    best: Tensor  # [N, H, S] of every slot, read at the parents and written at the rows


def match_on_host(rows: MatchRows, sources: SourceMatches) -> Tensor:
    """[n, 3 H]: the last token's best match, and means over the source of what was said and of
    what was said or is to come."""
    matches = torch.empty(len(rows.said), 3, rows.said.size(1))
    write_matches(
        rows.said.contiguous().numpy(),
        rows.promised.contiguous().numpy(),
        rows.sentences,
        rows.slots.numpy(),
        rows.parents.numpy(),
        rows.is_empty.numpy(),
        rows.is_word.numpy(),
        sources.said.numpy(),
        sources.promised.numpy(),
        sources.lengths.numpy(),
        sources.best.numpy(),
        matches.numpy(),
    )
    return matches.flatten(1)


def match_on_device(rows: MatchRows, sources: SourceMatches) -> Tensor:
    """`match_on_host` by tensor operations."""
    sentences = index_tensor(rows.sentences, rows.said.device)
    lengths = sources.lengths[sentences][:, None, None]  # [n, 1, 1]
    is_padding = torch.arange(sources.said.size(2), device=lengths.device) >= lengths  # [n, 1, S]
    match = _products(rows.said, sources.said[sentences])  # [n, H, S]
    match = match.masked_fill(is_padding | ~rows.is_word[:, None, None], NO_MATCH)
    before = sources.best[rows.parents].masked_fill(rows.is_empty[:, None, None], NO_MATCH)
    best = torch.maximum(match, before)
    sources.best.index_copy_(0, rows.slots, best)
    promised = F.softsign(_products(rows.promised, sources.promised[sentences]))
    covered = torch.maximum(best, promised)
    means = [one.masked_fill(is_padding, 0.0).sum(dim=-1) for one in (best, covered)]
    return torch.cat([match.amax(dim=-1), *(one / lengths[..., 0] for one in means)], dim=-1)


def _products(queries: Tensor, keys: Tensor) -> Tensor:
    """[n, H, d], [n, H, S, d] -> [n, H, S]"""
    return (keys @ queries.unsqueeze(-1)).squeeze(-1)


@compiled_for_vectors("reassoc", "contract", "nsz")
def write_products(
    query: Float32,  # [d]
    keys: Float32,  # [S, d]
    count: int,  # of the S keys
    products: Float32,  # [S] out
) -> None:
    """The products of a query with the first `count` keys."""
    size = len(query)
    for place in range(count):
        key = keys[place]
        total = _ZERO
        for column in range(size):
            total += query[column] * key[column]
        products[place] = total


@compiled
def write_matches(
    said: Float32,  # [n, H, d]
    promised: Float32,  # [n, H, d]
    sentences: Int32,  # [n]
    slots: Int64,  # [n]
    parents: Int64,  # [n]
    is_empty: Bool,  # [n]
    is_word: Bool,  # [n]
    said_keys: Float32,  # [G, H, S, d]
    promised_keys: Float32,  # [G, H, S, d]
    lengths: Int64,  # [G]
    best: Float32,  # [N, H, S]
    matches: Float32,  # [n, 3, H] out
) -> None:
    """`match_on_host`, row by row; NaN comes out for tokens that are NaN."""
    num_heads = said.shape[1]
    products = np.empty(said_keys.shape[2], np.float32)
    for row in range(len(said)):
        sentence = sentences[row]
        length = lengths[sentence]
        own, before = best[slots[row]], best[parents[row]]
        for head in range(num_heads):
            if is_word[row]:
                write_products(said[row, head], said_keys[sentence, head], length, products)
            else:
                products[:length] = _LEAST
            of_token, sum_said = _LEAST, _ZERO
            for place in range(length):
                match = products[place]
                if not match <= of_token:
                    of_token = match
                if not is_empty[row] and before[head, place] > match:
                    match = before[head, place]
                own[head, place] = match
                sum_said += match
            write_products(promised[row, head], promised_keys[sentence, head], length, products)
            sum_covered = _ZERO
            for place in range(length):
                product = products[place]
                promise = product / (_ONE + abs(product))
                found = own[head, place]
                sum_covered += promise if promise > found else found
            matches[row, 0, head] = of_token
            matches[row, 1, head] = sum_said / length
            matches[row, 2, head] = sum_covered / length
