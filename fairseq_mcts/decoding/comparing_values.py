"""Values of `ComparingValueHead` in a search: each prefix keeps what longer ones build on."""

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.decoding.caution import Moments, bucket_moments
from fairseq_mcts.decoding.key_value_pool import with_capacity
from fairseq_mcts.decoding.match_rows import MatchRows, SourceMatches
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.step_batch import StepBatch, index_tensor, on_device
from fairseq_mcts.models.comparing_head import ComparingValueHead, Comparison
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.value_head import bucket_means
from fairseq_mcts.models.value_reading import source_states
from fairseq_mcts.search.tree import NO_NODE, Tree


class ComparingValues:
    """The head's forward pass, one token at a time, for the prefixes of one batch of sentences.

    Three pools under the slots of the prefix tree: normed features, sums over the prefix' words
    and, for each token of the source, its best match so far.
    """

    def __init__(self, decoder: Network, placement: Placement, *, with_variance: bool) -> None:
        head: ComparingValueHead = decoder.value_head
        self._head = head
        self._rows = Comparison(head.eval(), placement.function)
        self._means = bucket_means(head.bucket_edges)
        self._with_variance = with_variance
        self._embed = decoder.embed_tokens
        self._eos: int = decoder.dictionary.eos()
        self._match = placement.match_rows
        nothing = torch.empty(0, dtype=placement.dtype, device=placement.device)
        self._features = nothing.new_empty(0, head.feature_norm.normalized_shape[0])  # [N, C]
        self._sums = nothing.new_empty(0, head.sizes.summed)  # [N, Z]
        self._sources: SourceMatches | None = None

    @property
    def bytes_per_slot(self) -> int:
        numbers = self._features.size(1) + self._sums.size(1)
        if self._sources is not None:
            numbers += self._sources.best.size(1) * self._sources.best.size(2)
        return numbers * self._features.element_size()

    def begin(self, encoder_out: EncoderOut) -> None:
        states, is_padding = source_states(encoder_out)
        said, promised = (keys.contiguous() for keys in self._head.source_keys(states))
        self._sources = SourceMatches(
            said=said,
            promised=promised,
            lengths=(~is_padding).sum(dim=1),
            best=said.new_empty(len(self._sums), *said.shape[1:3]),
        )

    def reserve(self, capacity: int) -> None:
        assert self._sources is not None  # `begin` comes first
        if capacity > len(self._sums):
            self._features = with_capacity(self._features, capacity)
            self._sums = with_capacity(self._sums, capacity)
            best = with_capacity(self._sources.best, capacity)
            self._sources = self._sources._replace(best=best)

    def values(self, features: Tensor, tree: Tree, batch: StepBatch) -> Moments:
        assert self._sources is not None
        head, device = self._rows, features.device
        is_empty = on_device(batch.parents == NO_NODE, device)
        of_parents = index_tensor(np.maximum(batch.parents, 0), device)
        logprobs = on_device(tree.logprob[batch.numpy_slots], device).to(features.dtype)
        is_finished = ~is_empty & batch.tokens.eq(self._eos)
        is_word = ~is_empty & ~is_finished

        after = head.feature_norm(features)
        before = self._features[of_parents].masked_fill_(is_empty.unsqueeze(1), 0.0)
        known = head.token_knowledge(before, self._embed(batch.tokens), after, logprobs)
        matches = self._match(
            MatchRows(
                said=head.said_queries(known),
                promised=head.promised_queries(after),
                sentences=batch.sentences,
                slots=batch.slots,
                parents=of_parents,
                is_empty=is_empty,
                is_word=is_word,
            ),
            self._sources,
        )
        best = matches[:, : matches.size(1) // 3]
        summed = torch.cat([head.token_summands(known, logprobs), best], dim=1)
        summed.masked_fill_(~is_word.unsqueeze(1), 0.0)
        sums = summed + self._sums[of_parents].masked_fill_(is_empty.unsqueeze(1), 0.0)
        self._features.index_copy_(0, batch.slots, after)
        self._sums.index_copy_(0, batch.slots, sums)

        words = batch.depths - is_finished.long()
        sentences = index_tensor(batch.sentences, device)
        logits = head.bucket_logits(
            after,
            known,
            sums / words.clamp_min(1).unsqueeze(1),
            matches,
            words.to(features),
            self._sources.lengths[sentences].to(features),
            is_finished,
        )
        return bucket_moments(logits, self._means, with_variance=self._with_variance)
