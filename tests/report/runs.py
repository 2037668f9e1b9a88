"""Decodings for reports: files as fairseq-generate writes them, with real searches beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.generators.search_record import SearchRecord
from fairseq_mcts.generators.tree_recorder import WatchedSentence
from fairseq_mcts.search import Hypothesis, make_decoder, run_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.decoder import Run
from fairseq_mcts.search.function_evaluator import FunctionEvaluator
from tests.search.toy_models import ToyEvaluator, ToyModel

EOS = 2
MARKUP = "<script>window.hacked = 1</script> <img src=x onerror='window.hacked=1'> & \"quoted\""


class Dictionary:
    """As much of fairseq's as a record reads."""

    symbols = ("<s>", "<pad>", "</s>", "▁ein", "▁Haus", "▁und", "er", "▁<b>", "</script>")

    def __getitem__(self, token: int) -> str:
        return self.symbols[token]

    def eos(self) -> int:
        return EOS


def toy_search(
    sentences: Sequence[int],
    record: Path | None,
    *,
    search: str = "mcts",
    max_len: int = 8,
    deviation: float | None = None,
    metric: Any = None,
    **options: Any,
) -> list[Hypothesis]:
    """The best hypotheses of sentences, and a record of how they were found.

    `deviation` is what the network is to have said of all its values.
    """
    model = ToyModel(vocab=len(Dictionary.symbols), eos=EOS, seed=7)
    evaluate = ToyEvaluator(model, EOS, tuple(sentences))
    decoder = make_decoder(search, options)
    constraints = make_constraints(
        len(sentences), eos=EOS, max_len=max_len, min_len=6, forbidden=(0, 1)
    )
    batch = [WatchedSentence((number,), (3, 4, EOS)) for number in sentences]
    writer = watcher = None
    if record is not None:
        chosen = frozenset(sentences)
        writer = SearchRecord(record, decoder, Dictionary(), Dictionary(), chosen)
        watcher = writer.watch(batch)
        if watcher is not None and deviation is not None:
            slots = np.arange(10_000, dtype=np.int32)
            watcher.deviations.write(slots, np.full(len(slots), deviation, np.float32))
    run = Run(constraints, recorder=watcher)
    evaluator = FunctionEvaluator(evaluate, constraints)
    found = run_decoder(decoder, run, evaluator, metric).hypotheses
    if writer is not None and watcher is not None:
        writer.write(batch, watcher, found)
    return [one[0] for one in found]


def text_of(tokens: Sequence[int]) -> str:
    pieces = "".join(Dictionary.symbols[token] for token in tokens if token != EOS)
    return pieces.replace("▁", " ").strip()


def write_generated(
    folder: Path,
    sources: Sequence[str],
    references: Sequence[str],
    texts: Sequence[str],
    *,
    search: str = "",  # none: fairseq's own beam of 5
    values: Sequence[float] | None = None,
    logprob: float = -0.5,  # of every token, base 2
    charged: int = 50,
) -> Path:
    """The results folder of fairseq-generate, in an order of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in reversed(range(len(texts))):
        lines += [f"S-{number}\t{sources[number]}", f"T-{number}\t{references[number]}"]
        lines += [f"{letter}-{number}\t{logprob}\t{texts[number]}" for letter in "HD"]
        tokens = len(texts[number].split()) + 1
        lines.append(f"P-{number}\t" + " ".join([f"{logprob:.4f}"] * tokens))
        if search:
            if values is not None:
                lines.append(f"V-{number}\t{values[number]:.6f}")
            lines.append(f"Q-{number}\t{charged * tokens}\t{7 * tokens}")
    how = f"search={search}" if search else "beam=5"
    lines.append(f"Generate test with {how}: BLEU4 = 1.00, 1/1/1/1 (BP=1.000)")
    (folder / "generate-test.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
