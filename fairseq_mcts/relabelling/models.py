"""The models that data are relabelled with: checkpoints of the policy, and of a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq.tasks.translation import TranslationTask

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.models.checkpoints import load_models, require_files
from fairseq_mcts.models.network import Network
from fairseq_mcts.work import Settings


@dataclass(frozen=True)
class ModelFiles:
    """Checkpoints of one model, or of the members of an ensemble."""

    paths: Sequence[Path]
    model_overrides: dict[str, Any]
    fp16: bool = False
    option: str = "--path"  # that names them

    def settings(self) -> Settings:
        """What a result depends on."""
        require_files(self.option, self.paths)
        return {
            "digest": [digest_of_files([path]) for path in self.paths],
            "model_overrides": self.model_overrides,
            "fp16": self.fp16,
        }

    def load(self, task: TranslationTask, device: torch.device) -> list[Network]:
        """The models, ready to decode."""
        models = load_models(
            self.option,
            self.paths,
            task,
            overrides=self.model_overrides,
            needs_policy=self.option == "--path",
        )
        for model in models:
            (model.half() if self.fp16 else model).to(device).make_generation_fast_()
        return models
