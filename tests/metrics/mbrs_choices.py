"""Candidates that mbrs and this package both choose from, and the file of what mbrs chose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.toy_encoder import save_toy_encoder

FILE = Path(__file__).parent / "mbrs_choices.json"
LAYER = 3  # of the encoder
CLOSE = 2e-5  # scores of mbrs are float32


class Task(NamedTuple):
    """A way to choose among the candidates of all sentences."""

    metric: str
    weights: str
    references: str

    @property
    def name(self) -> str:
        return ", ".join(self)


TASKS = [
    *(Task(metric, "count", "pairwise") for metric in ("chrf", "bleu", "bertscore")),
    *(Task(metric, "probability", "pairwise") for metric in ("chrf", "bleu", "bertscore")),
    *(Task(metric, "count", "aggregated") for metric in ("chrf", "bleu")),
    *(Task(metric, "probability", "aggregated") for metric in ("chrf", "bleu")),
]


class Sentence(NamedTuple):
    """The candidates of a sentence."""

    texts: list[str]  # [H] distinct ones
    logprobs: list[float]  # [H]
    drawn: list[int]  # [R] as they were drawn: places in `texts`, each at least once


class Choices(NamedTuple):
    """What the file holds."""

    sentences: list[Sentence]
    utilities: dict[str, list[list[float]]]  # by the tasks' names; [H] of each sentence, ≤ 1
    versions: dict[str, str]


def write(choices: Choices) -> None:
    """One sentence a line, and then one task."""
    lines = [json.dumps(choices.versions)]
    compact: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
    lines += [json.dumps(one, **compact) for one in choices.sentences]
    for name, utilities in choices.utilities.items():
        rounded = [[round(one, 5) for one in several] for several in utilities]
        lines.append(json.dumps({name: rounded}, **compact))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def read() -> Choices:
    versions, *rows = json.loads(FILE.read_text(encoding="utf-8"))
    sentences = [Sentence(*row) for row in rows if isinstance(row, list)]
    utilities = {name: of for row in rows if isinstance(row, dict) for name, of in row.items()}
    return Choices(sentences, utilities, versions)


def save_encoder(folder: Path, sentences: list[Sentence]) -> None:
    """An encoder for BERTScore whose weights are the same with any version of torch.

    All its pieces have much in common, as those of trained encoders do: where the best match of a
    piece is negative, mbrs takes the 0 of the padding of longer texts in its place.
    """
    import torch
    from transformers import BertModel

    save_toy_encoder(folder, [text for one in sentences for text in one.texts])
    model = BertModel.from_pretrained(folder, add_pooling_layer=False)
    dice = np.random.Generator(np.random.PCG64(0))
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            if weights.dim() > 1:  # others are 0 or 1
                scale = 0.5 if "token_type" in name else 0.3  # one type, which all pieces have
                drawn = scale * dice.standard_normal(tuple(weights.shape))
                weights.copy_(torch.from_numpy(drawn))
    model.save_pretrained(folder)
