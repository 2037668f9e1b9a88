"""Values of all prefixes of a batch, by whichever head a decoder has."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_mcts.models.comparing_head import ComparingValueHead, Prefixes
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network


def read_values(
    model: Network,
    features: Tensor,  # [B, T, C]
    output: Tensor,  # what the decoder's output layer makes of them
    tokens: Tensor,  # [B, T] the decoder's input
    encoder_out: EncoderOut,  # of G sources
    source_of_row: Tensor,  # [B]
) -> dict[str, Tensor]:
    """`value_logits` over the buckets, [B, T, K], and `value`, float32 [B, T]."""
    decoder = model.decoder
    head = decoder.value_head
    if isinstance(head, ComparingValueHead):
        source, source_padding = source_states(encoder_out)
        is_later = torch.arange(tokens.size(1), device=tokens.device) > 0  # than the start symbol
        is_eos = tokens.eq(decoder.dictionary.eos())
        prefixes = Prefixes(
            embedded=decoder.embed_tokens(tokens),
            logprobs=token_logprobs(model, output, tokens),
            is_word=is_later & ~is_eos & tokens.ne(decoder.dictionary.pad()),
            is_finished=is_later & is_eos,
            source=source,
            source_padding=source_padding,
            source_of_row=source_of_row,
        )
        logits, value = head(features, prefixes)
    else:
        logits, value = head(features)
    return {"value_logits": logits, "value": value}


@torch.no_grad()
def token_logprobs(model: Network, output: Tensor, tokens: Tensor) -> Tensor:
    """float32 [B, T]: the policy's log-probability of each token [B, T]; 0 of the first."""
    logprobs = model.get_normalized_probs((output[:, :-1], None), log_probs=True).float()
    return F.pad(logprobs.gather(-1, tokens[:, 1:, None]).squeeze(-1), (1, 0))


def source_states(encoder_out: Any) -> tuple[Tensor, Tensor]:
    """The states [G, S, C] and the padding, bool [G, S], of a transformer encoder's output."""
    try:
        states: Tensor = encoder_out["encoder_out"][0].transpose(0, 1)
        masks = encoder_out["encoder_padding_mask"]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            "--value-head comparing reads the states of a transformer encoder, which this policy "
            "does not have; use --value-head plain"
        ) from error
    if masks:
        return states, masks[0].bool()
    return states, torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
