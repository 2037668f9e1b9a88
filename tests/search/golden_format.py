"""Golden trees: a toy model written out as a table, and the full trace of MCTS on it.

A file needs nothing but itself to be replayed: neither the toy models nor the reference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.search.reference_mcts import MctsOptions, MctsResult, ReferenceMcts
from tests.search.reference_rules import Prefix, Rules
from tests.search.toy_models import ToyEvaluator

FOLDER = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class TableModel:
    """The model of a golden file: rows (prefix, log-probabilities, value) and metric scores."""

    rows: dict[Prefix, tuple[list[float], float]]
    scores: dict[Prefix, float]

    def __call__(self, sentence: int, prefix: Prefix) -> tuple[np.ndarray, float]:
        logprobs, value = self.rows[prefix]
        return np.array(logprobs), value

    def score(self, sentence: int, tokens: Prefix) -> float:
        return self.scores[tokens]


@dataclass(frozen=True)
class GoldenProblem:
    """A golden file as a problem to decode, in the manner of `ToyProblem`."""

    golden: dict[str, Any]
    sentence_ids: tuple[int, ...] = (0,)

    def evaluator(self) -> ToyEvaluator:
        return ToyEvaluator(model_of(self.golden), self.golden["limits"]["eos"], self.sentence_ids)

    def decode_options(self) -> dict[str, Any]:
        limits = {k: v for k, v in self.golden["limits"].items() if k not in ("vocab", "forced")}
        return {**limits, "prefixes": [tuple(self.golden["limits"]["forced"])]}

    def search_options(self) -> dict[str, Any]:
        options = dict(self.golden["options"])
        if options["leaf"] == "rollout" or options["terminal"] == "metric":
            options["metric"] = model_of(self.golden).score
        return options


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def model_of(golden: dict[str, Any]) -> TableModel:
    return TableModel(
        rows={tuple(prefix): (logprobs, value) for prefix, logprobs, value in golden["model"]},
        scores={tuple(tokens): score for tokens, score in golden["metric"]},
    )


def rules_of(golden: dict[str, Any]) -> Rules:
    limits = golden["limits"]
    return Rules(
        **{**limits, "forbidden": tuple(limits["forbidden"]), "forced": tuple(limits["forced"])}
    )


def replay_by_reference(golden: dict[str, Any]) -> MctsResult:
    model = model_of(golden)
    options = MctsOptions(**golden["options"])
    return ReferenceMcts(model, 0, rules_of(golden), options, model.score).decode()


def trace_of(result: MctsResult) -> dict[str, Any]:
    """What is recorded of a search: every node of every token's tree."""
    return {
        "tokens": list(result.best.tokens),
        "value": result.best.value,
        "logprob": result.best.logprob,
        "charged": result.charged,
        "asked": [list(prefix) for prefix in result.asked],
        "steps": [
            {
                "token": step.token,
                "children": [[token, *child] for token, child in sorted(step.children.items())],
                "tree": [
                    [list(node.prefix), node.visits, node.value, node.own_value]
                    for node in step.root.walk()
                ],
            }
            for step in result.steps
        ],
    }


def write(path: Path, golden: dict[str, Any]) -> None:
    """JSON with one row of a table to a line, so that a change can be read in a diff."""

    def table(rows: list[Any]) -> str:
        return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"

    parts = []
    for key, content in golden.items():
        is_table = key in ("model", "metric", "steps")
        parts.append(f"{json.dumps(key)}: {table(content) if is_table else json.dumps(content)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
