"""Source sentences through a model's encoder, once a batch."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from fairseq_mcts.decoding.step_batch import index_tensor, padded_length
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network

#: Length to pad to -> which sentences of a batch are encoded together.
LengthGroups = dict[int, list[int]]


def by_padded_length(lengths: Sequence[int]) -> LengthGroups:
    """Sentences of nearly the same length together: little is computed for padding, where the
    longest sentence of a batch is twice as long as most."""
    groups: LengthGroups = {}
    for sentence, length in enumerate(lengths):
        groups.setdefault(padded_length(length), []).append(sentence)
    return groups


def all_together(lengths: Sequence[int]) -> LengthGroups:
    """One pass, for devices that compute large batches as fast as small ones."""
    return {padded_length(max(lengths)): list(range(len(lengths)))}


def encode_in_groups(
    encoder: Network,
    sources: Sequence[Tensor],  # S of any length, unpadded
    groups: LengthGroups,
    pad: int,
) -> EncoderOut:
    """States [T, S, C] and padding mask [S, T] of a transformer encoder, one pass a group."""
    states: dict[int, Tensor] = {}  # [T or less, C] of each sentence
    is_padding: dict[int, Tensor] = {}  # [T or less]
    for length, sentences in groups.items():
        # fairseq's encoder works on [T, S, C] views, which are contiguous for a single sentence
        # only, and torch then adds biases at another moment: a single sentence goes in twice
        rows = sentences if len(sentences) > 1 else sentences * 2
        encoded = _encode(encoder, [sources[row] for row in rows], length, pad)
        [group_states], masks = encoded["encoder_out"], encoded["encoder_padding_mask"]
        mask = masks[0] if masks else group_states.new_zeros(len(rows), len(group_states))
        for place, sentence in enumerate(sentences):
            states[sentence], is_padding[sentence] = group_states[:, place], mask[place].bool()
    order = range(len(sources))
    mask = pad_sequence([is_padding[one] for one in order], batch_first=True, padding_value=True)
    return {
        "encoder_out": [pad_sequence([states[one] for one in order])],
        "encoder_padding_mask": [mask],
    }


def encode_longest_first(encoder: Network, sources: Sequence[Tensor], pad: int) -> EncoderOut:
    """The output of any fairseq encoder for all sentences, in their order.

    The encoder gets what fairseq's datasets would give it, which fairseq's LSTM relies on: the
    longest sentence first, and no padding beyond it.
    """
    order = np.argsort([-len(source) for source in sources], kind="stable")
    encoded = _encode(encoder, [sources[one] for one in order], len(sources[order[0]]), pad)
    return encoder.reorder_encoder_out(encoded, index_tensor(np.argsort(order), sources[0].device))


def _encode(encoder: Network, sources: Sequence[Tensor], length: int, pad: int) -> EncoderOut:
    """All sentences in one pass, padded on the right to `length`."""
    tokens = pad_sequence(list(sources), batch_first=True, padding_value=pad)
    tokens = F.pad(tokens, (0, length - tokens.size(1)), value=pad)
    lengths = torch.tensor([len(source) for source in sources], device=tokens.device)
    return encoder(tokens, src_lengths=lengths)
