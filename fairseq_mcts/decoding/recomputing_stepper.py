"""The fallback for all other decoders: every prefix from its beginning, every time."""

import logging

import numpy as np
import torch
from torch import Tensor

from fairseq_mcts.decoding.step_batch import StepBatch, index_tensor
from fairseq_mcts.models.multiquery_encoder import EncoderOut
from fairseq_mcts.models.network import Network
from fairseq_mcts.search.tree import NO_NODE, Tree

logger = logging.getLogger(__name__)


class RecomputingStepper:
    """Feeds whole prefixes to the decoder's own forward pass, without any incremental state."""

    def __init__(self, model: Network, pad_token: int) -> None:
        self._model = model
        self._pad = pad_token
        self._encoder_out: EncoderOut = {}
        logger.warning(
            "%s has no stepper: each prefix will be computed from its beginning, which is slow "
            "(see docs/fast-architecture.md)",
            type(model.decoder).__name__,
        )

    @property
    def bytes_per_slot(self) -> int:
        return 0

    def begin(self, encoder_out: EncoderOut) -> None:
        self._encoder_out = encoder_out

    def reserve(self, capacity: int) -> None:
        """Nothing is kept per slot."""

    def step(self, tree: Tree, batch: StepBatch) -> Tensor:
        paths = batch.numpy_paths  # [n, L]
        tokens = np.where(paths == NO_NODE, self._pad, tree.token[np.maximum(paths, 0)])
        tokens[:, 0] = batch.start_token
        inputs = index_tensor(tokens, batch.tokens.device)
        sentences = index_tensor(batch.sentences, batch.tokens.device)
        encoder_out = self._model.encoder.reorder_encoder_out(self._encoder_out, sentences)
        features = self._model.decoder.extract_features(inputs, encoder_out=encoder_out)[0]
        return features[torch.arange(len(inputs), device=inputs.device), batch.depths]
