"""The policy that is relabelled with: its checkpoints, and its samples."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from fairseq.tasks.translation import TranslationTask
from torch import Tensor

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.generators.search_generator import (
    POSITIONS_BEYOND_LENGTH,
    Limits,
    SearchGenerator,
)
from fairseq_mcts.models.checkpoints import load_models, require_files
from fairseq_mcts.models.network import Network
from fairseq_mcts.relabelling.sampling import Samples, SamplesOptions
from fairseq_mcts.relabelling.settings import Settings
from fairseq_mcts.search import Decoder, make_decoder

Tokens = npt.NDArray[np.int64]  # [T]


@dataclass(frozen=True)
class Decoding:
    """How samples are drawn: `samples` of them at a temperature, or None for the greedy one."""

    samples: int | None = None
    temperature: float = 1.0
    seed: int = 1
    max_len_a: float = 0.0
    max_len_b: int = 200

    def decoder(self) -> Decoder[Any]:
        """What makes the translations."""
        if self.samples is None:
            return make_decoder("beam", {"beam": 1})
        return Samples(SamplesOptions(samples=self.samples, temperature=self.temperature))

    def settings(self) -> Settings:
        """What a result depends on."""
        if self.samples is None:
            lengths = {"max_len_a": self.max_len_a, "max_len_b": self.max_len_b}
            return {"method": "greedy", **lengths}
        return {"method": "sampling", **asdict(self)}


@dataclass(frozen=True)
class PolicyFiles:
    """Checkpoints of one policy, or of the members of an ensemble."""

    paths: Sequence[Path]
    model_overrides: dict[str, Any]
    fp16: bool = False

    def settings(self) -> Settings:
        """What a result depends on."""
        require_files("--path", self.paths)
        return {
            "digest": [digest_of_files([path]) for path in self.paths],
            "model_overrides": self.model_overrides,
            "fp16": self.fp16,
        }

    def load(self, task: TranslationTask, device: torch.device) -> list[Network]:
        """The models, ready to decode."""
        models = load_models("--path", self.paths, task, overrides=self.model_overrides)
        for model in models:
            (model.half() if self.fp16 else model).to(device).make_generation_fast_()
        return models


class Sampler:
    """Translates batches of sources through the project's own evaluator."""

    def __init__(self, models: Sequence[Network], dictionary: Any, decoding: Decoding) -> None:
        self.method = "greedy" if decoding.samples is None else "sample"
        self.source_positions = min(int(model.max_positions()[0]) for model in models)
        target_positions = min(int(model.max_decoder_positions()) for model in models)
        self._generator = SearchGenerator(
            models,
            dictionary,
            value_models=[],
            decoder=decoding.decoder(),
            limits=Limits(
                max_len_a=decoding.max_len_a,
                max_len_b=decoding.max_len_b,
                # a sample is fed as eos y1 .. yn eos when a value is trained on it
                max_len=max(1, target_positions - POSITIONS_BEYOND_LENGTH),
                n_best=decoding.samples or 1,
            ),
            seed=decoding.seed,
        )

    def sample(self, sources: Sequence[Tensor]) -> list[list[Tokens]]:
        """For each source its samples, each ending in eos."""
        results = self._generator.translate(sources)
        return [[np.array(one.tokens, np.int64) for one in several] for several in results]
