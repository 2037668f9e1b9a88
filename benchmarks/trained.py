"""Trained models and the sentences they are tried on, for the benchmarks that need such."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils

from fairseq_mcts.register import register


@dataclass(frozen=True)
class Trained:
    """A checkpoint with its task, and one split of some binarised data."""

    model: Any
    task: Any
    subset: str
    count: int  # sentences to try

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The sentences' sources and targets, in the order of the files."""
        dataset = self.task.dataset(self.subset)
        return [dataset[number] for number in range(self.count)]


def load(path: Path, data: Path, subset: str, sentences: int) -> Trained:
    """The checkpoint's own task reads `data`; at most so many sentences of it count."""
    register()
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(path)], arg_overrides={"data": str(data)}
    )
    task.load_dataset(subset)
    return Trained(_ready(models[0]), task, subset, min(sentences, len(task.dataset(subset))))


def load_model(path: Path, task: Any) -> Any:
    """Another checkpoint for the same task."""
    models, _ = checkpoint_utils.load_model_ensemble([str(path)], task=task)
    return _ready(models[0])


def _ready(model: Any) -> Any:
    """As fairseq's commands bring it into shape before they decode."""
    model.make_generation_fast_()
    return model
