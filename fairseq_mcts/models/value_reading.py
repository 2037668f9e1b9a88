"""Values of the prefixes of a batch, by whichever head a decoder has."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from fairseq_mcts.models.comparing_head import ComparingValueHead, Prefixes
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network

_HASH_FACTOR = 6364136223846793005  # of a rolling hash of 64 bits (Knuth's multiplier)


def read_values(
    model: Network,
    features: Tensor,  # [B, T, C]
    tokens: Tensor,  # [B, T] the decoder's input
    encoder_out: EncoderOut,  # of G sources
    source_of_row: Tensor,  # [B]
    wanted: Tensor | None = None,  # bool [B, T] where values are to be read; None: everywhere
) -> dict[str, Tensor]:
    """`value_logits` over the buckets, [B, T, K], and `value`, float32 [B, T]; 0 where not wanted.

    Heads that read features alone give all of them. One that compares gives `token_logprobs` too,
    float32 [B, T]: the policy's log-probability of each input token, 0 of the start symbol; and
    `similarities` [B, T, S] of the input tokens and the source's, by its first comparison.
    """
    head = model.decoder.value_head
    if not isinstance(head, ComparingValueHead):
        logits, value = head(features)
        return {"value_logits": logits, "value": value}
    if wanted is None:
        wanted = torch.ones_like(tokens, dtype=torch.bool)
    flat = features.flatten(0, 1)
    dictionary = model.decoder.dictionary
    nodes = different_prefixes(tokens, source_of_row, dictionary.pad())
    is_later = torch.arange(tokens.size(1), device=tokens.device) > 0  # than the start symbol
    is_eos = tokens.eq(dictionary.eos())
    source, source_padding = source_states(encoder_out)
    last_tokens = tokens.flatten()[nodes.places]  # [U]
    logprobs = _token_logprobs(model, flat[nodes.places], nodes.parents, last_tokens)
    compared = head(
        flat[nodes.places],
        Prefixes(
            embedded=model.decoder.embed_tokens(last_tokens),
            logprobs=logprobs,
            parents=nodes.parents,
            at=nodes.at,
            is_word=is_later & ~is_eos & tokens.ne(dictionary.pad()),
            is_finished=is_later & is_eos,
            wanted=wanted,
            source=source,
            source_padding=source_padding,
            source_of_row=source_of_row,
        ),
    )
    logits = compared.logits.new_zeros(*tokens.shape, compared.logits.size(-1))
    values = compared.values.new_zeros(tokens.shape)
    return {
        "value_logits": logits.masked_scatter(wanted.unsqueeze(-1), compared.logits),
        "value": values.masked_scatter(wanted, compared.values),
        "token_logprobs": logprobs[nodes.at],
        "similarities": compared.similarities,
    }


class DifferentPrefixes(NamedTuple):
    """The U different prefixes of a batch's rows."""

    places: Tensor  # [U] a flat position in [B, T] where it ends
    parents: Tensor  # [U] the prefix without its last token, -1 of the empty one
    at: Tensor  # [B, T] which prefix ends there; 0 at padding


def different_prefixes(tokens: Tensor, source_of_row: Tensor, pad: int) -> DifferentPrefixes:
    """Of rows of tokens [B, T], each of a source [B]; found by a hash of 64 bits."""
    key = source_of_row + 1  # [B]
    keys = []
    for column in tokens.unbind(dim=1):
        key = key * _HASH_FACTOR + column + 1  # overflow is meant
        keys.append(key)
    positions = tokens.ne(pad).flatten().nonzero().squeeze(1)  # [P]
    hashed = torch.stack(keys, dim=1).flatten()[positions]
    different, prefix = torch.unique(hashed, return_inverse=True)
    places = positions.new_empty(len(different)).index_copy_(0, prefix, positions)
    at = torch.zeros_like(tokens).flatten().index_copy_(0, positions, prefix)
    parents = at[places - 1].masked_fill(places % tokens.size(1) == 0, -1)
    return DifferentPrefixes(places, parents, at.view_as(tokens))


@torch.no_grad()
def _token_logprobs(
    model: Network,
    features: Tensor,  # [U, C]
    parents: Tensor,  # [U]
    tokens: Tensor,  # [U]
) -> Tensor:  # float32 [U]
    """The policy's log-probability of each prefix' last token; 0 of empty prefixes."""
    later = (parents >= 0).nonzero().squeeze(1)  # [R]
    before, row = torch.unique(parents[later], return_inverse=True)
    output = model.decoder.output_layer(features[before].unsqueeze(0))
    logprobs = model.get_normalized_probs((output, None), log_probs=True)[0].float()  # [.., V]
    found = features.new_zeros(len(tokens), dtype=torch.float32)
    return found.index_copy_(0, later, logprobs[row, tokens[later]])


def source_states(encoder_out: Any) -> tuple[Tensor, Tensor]:
    """The states [G, S, C] and the padding, bool [G, S], of a transformer encoder's output."""
    states: Tensor = encoder_out["encoder_out"][0].transpose(0, 1)
    masks = encoder_out["encoder_padding_mask"]
    if masks:
        return states, masks[0].bool()
    return states, torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
