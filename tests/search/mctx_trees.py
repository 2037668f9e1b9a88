"""Searches that mctx and this package both make: a model that both can ask, and the file of what
mctx found.

The model is a table of policies and values. Which row answers depends on the prefix by a hash that
is updated token by token, so that jax can follow it too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.search.toy_models import Prefix, ToyEvaluator, ToyModel

FILE = Path(__file__).parent / "golden_mctx.json"
ROWS = 61  # of the table; a prime
STEPS = 2  # output tokens whose searches are compared


def next_row(row: Any, token: Any) -> Any:
    """The row of a prefix that is one token longer; of numbers or of arrays of them."""
    return (row * 31 + token + 7) % ROWS


@dataclass(frozen=True)
class Case:
    """Sentences, each with a table of its own, and the options that they are searched with."""

    name: str
    vocab: int
    eos: int
    max_len: int
    policy: str
    options: dict[str, Any]  # of `decode`
    seeds: tuple[int, ...]  # one a sentence: of its table and of its noise

    def table(self, sentence: int) -> tuple[np.ndarray, np.ndarray]:
        """Log-probabilities [R, V] and values [R]."""
        model = ToyModel(self.vocab, self.eos, self.seeds[sentence], policy=self.policy)
        rows = [model(0, (row,)) for row in range(ROWS)]
        return np.stack([logprobs for logprobs, _ in rows]), np.array([v for _, v in rows])

    def decode_options(self) -> dict[str, Any]:
        return {"eos": self.eos, "max_len": self.max_len}

    @property
    def sentence_ids(self) -> tuple[int, ...]:
        return tuple(range(len(self.seeds)))

    def evaluator(self) -> ToyEvaluator:
        tables = [self.table(sentence) for sentence in self.sentence_ids]

        def model(sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
            row = 0
            for token in prefix:
                row = next_row(row, token)
            logprobs, values = tables[sentence]
            return logprobs[row], float(values[row])

        return ToyEvaluator(model, self.eos, self.sentence_ids)


@dataclass(frozen=True)
class Found:
    """What a search for one output token came to."""

    token: int
    children: dict[int, tuple[int, float]]  # {token: (visits, Q)} of the visited ones


def write(cases: list[Case], found: list[list[list[Found]]], versions: dict[str, str]) -> None:
    """`found[case][sentence][step]`; one case a line."""
    lines = [json.dumps(versions)]
    for case, sentences in zip(cases, found, strict=True):
        rows = [[[step.token, _children(step)] for step in steps] for steps in sentences]
        lines.append(json.dumps({**vars(case), "found": rows}, separators=(",", ":")))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _children(step: Found) -> list[tuple[int, int, float]]:
    return [(token, visits, round(q, 6)) for token, (visits, q) in step.children.items()]


def read() -> list[tuple[Case, list[list[Found]]]]:
    _, *entries = json.loads(FILE.read_text(encoding="utf-8"))
    cases = []
    for entry in entries:
        rows = entry.pop("found")
        found = [
            [Found(token, {t: (n, q) for t, n, q in children}) for token, children in steps]
            for steps in rows
        ]
        cases.append((Case(**{**entry, "seeds": tuple(entry["seeds"])}), found))
    return cases
