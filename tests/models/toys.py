"""Toy dictionaries, models and batches for the tests of the architectures."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import (
    ARCH_CONFIG_REGISTRY,
    ARCH_MODEL_NAME_REGISTRY,
    ARCH_MODEL_REGISTRY,
    MODEL_DATACLASS_REGISTRY,
    build_model,
)
from omegaconf import OmegaConf
from torch import Tensor

import fairseq_mcts.models  # noqa: F401 - registers the architectures

SOURCE_WORDS = 30
TARGET_WORDS = 40
PAD, EOS = 1, 2
SPECIAL_SYMBOLS = 4

POLICY = "multiquery_transformer_tiny"
DUAL = "dual_head_multiquery_transformer_tiny"


def make_dictionary(words: int) -> Dictionary:
    dictionary = Dictionary()
    for index in range(words):
        dictionary.add_symbol(f"w{index}")
    return dictionary


@dataclass(frozen=True)
class ToyTask:
    """The part of a fairseq task that building a model and generating need."""

    source_dictionary: Dictionary
    target_dictionary: Dictionary

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        return build_model(OmegaConf.create(cfg), self, from_checkpoint)


def toy_task(*, joined: bool = False) -> ToyTask:
    target = make_dictionary(TARGET_WORDS)
    return ToyTask(target if joined else make_dictionary(SOURCE_WORDS), target)


def make_config(arch: str, **options: Any) -> Any:
    """The complete configuration of a named size with these options on top."""
    given = Namespace(**options)
    ARCH_CONFIG_REGISTRY[arch](given)
    return MODEL_DATACLASS_REGISTRY[ARCH_MODEL_NAME_REGISTRY[arch]].from_namespace(given)


def make_model(arch: str, *, joined: bool = False, seed: int = 1, **options: Any) -> Any:
    """A fresh model in evaluation mode."""
    torch.manual_seed(seed)
    cfg = make_config(arch, **options)
    return ARCH_MODEL_REGISTRY[arch].build_model(cfg, toy_task(joined=joined)).eval()


def save_checkpoint(folder: Path, name: str, arch: str, model: Any, **task: str) -> str:
    """The parts of a fairseq checkpoint that loading reads."""
    cfg = {
        "model": {**vars(make_config(arch)), "_name": arch},
        "task": {"_name": "translation", "data": str(folder), **task},
    }
    path = str(folder / name)
    history = [{"optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 12}]
    state = {
        "args": None,
        "cfg": cfg,
        "model": model.state_dict(),
        "optimizer_history": history,
        "extra_state": {"epoch": 1},
    }
    torch.save(state, path)
    return path


@dataclass(frozen=True)
class Batch:
    """A padded batch as a translation task makes it: sources left-padded, targets right-padded."""

    src_tokens: Tensor  # [B, S]
    src_lengths: Tensor  # [B]
    prev_output_tokens: Tensor  # [B, T]

    def row(self, index: int) -> "Batch":
        """One sentence without any padding."""
        source = self.src_tokens[index]
        target = self.prev_output_tokens[index]
        return Batch(
            source[source != PAD][None], self.src_lengths[index][None], target[target != PAD][None]
        )

    @property
    def net_input(self) -> dict[str, Tensor]:
        return dict(self.__dict__)


def make_batch(
    source_lengths: tuple[int, ...] = (9, 4, 7, 1), target_lengths: tuple[int, ...] = (5, 11, 1, 8)
) -> Batch:
    """Random sentences of these lengths, which all differ by default."""
    generator = torch.Generator().manual_seed(7)

    def words(length: int, vocabulary: int) -> Tensor:
        return torch.randint(SPECIAL_SYMBOLS, vocabulary, (length,), generator=generator)

    src = torch.full((len(source_lengths), max(source_lengths) + 1), PAD)
    tgt = torch.full((len(target_lengths), max(target_lengths) + 1), PAD)
    for row, (s, t) in enumerate(zip(source_lengths, target_lengths, strict=True)):
        src[row, -s - 1 :] = torch.cat([words(s, SOURCE_WORDS), torch.tensor([EOS])])
        tgt[row, : t + 1] = torch.cat([torch.tensor([EOS]), words(t, TARGET_WORDS)])
    return Batch(src, torch.tensor(source_lengths) + 1, tgt)


def skip_unless_cpu_can(precision: torch.dtype) -> None:
    """Skip the test where this torch or this CPU has no arithmetic of that precision."""
    x = torch.ones(2, 3, 3, dtype=precision)
    try:
        torch.nn.LayerNorm(3, dtype=precision)(torch.bmm(x, x))
    except RuntimeError as error:
        pytest.skip(f"no {precision} on this CPU: {error}")
