"""The task `translation_mcts`: fairseq's translation, the place for the plugin's options."""

from dataclasses import dataclass

import torch
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import nn


@dataclass
class TranslationMctsConfig(TranslationConfig):  # type: ignore[misc]
    """Options of fairseq's translation task; those of the decoders join them here."""


@register_task("translation_mcts", dataclass=TranslationMctsConfig)
class TranslationMctsTask(TranslationTask):  # type: ignore[misc]
    """Translate from one language into another, with the decoders of fairseq_mcts."""

    cfg: TranslationMctsConfig

    def begin_epoch(self, epoch: int, model: nn.Module) -> None:
        """Prepare for an epoch of training."""
        super().begin_epoch(epoch, model)
        if next(model.parameters()).device.type == "cpu":
            # Moments of rarely used weights decay into denormal numbers, which CPUs are slow at.
            torch.set_flush_denormal(True)
