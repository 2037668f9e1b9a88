"""Batches of a chunk, and which of its rows is at fault."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from fairseq_mcts.metrics.checks import check_scores
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.labeller import BatchLimits, Labeller
from fairseq_mcts.relabelling.rows import Batch, LabelledRow

LENGTHS = [3, 9, 1, 5, 5, 2]


@pytest.mark.parametrize(
    "limits, batches",
    [
        (BatchLimits(100), [[1, 3, 4, 0, 5, 2]]),
        (BatchLimits(100, 4), [[1, 3, 4, 0], [5, 2]]),
        (BatchLimits(10), [[1], [3, 4], [0, 5, 2]]),
        (BatchLimits(4), [[1], [3], [4], [0], [5, 2]]),  # a long one is alone, not left out
        (BatchLimits(4, 1), [[1], [3], [4], [0], [5], [2]]),
    ],
)
def test_batches_are_sorted_by_length_and_limited(
    limits: BatchLimits, batches: list[list[int]]
) -> None:
    assert list(limits.batches(LENGTHS)) == batches


class Words:
    """Sentences whose text is their numbers."""

    def decode(self, tokens: Any, *, escape_unk: bool = False) -> str:
        return " ".join(map(str, list(tokens)))

    def decode_batch(self, rows: Any, *, escape_unk: bool = False) -> list[str]:
        return [self.decode(row.tolist()) for row in rows]


class BadForNine:
    """A metric that gives no number to translations with a 9; others have their scores by heart."""

    name, range, compares_with = "bad", (0.0, 1.0), "source"
    privileged, reads_source = False, True

    def score_likely(self, hypotheses: Any, others: Any, likelihoods: Any) -> list[float]:
        scores = [np.nan if "9" in text else 0.5 for text in hypotheses]
        check_scores(cast("Any", self), scores, hypotheses, others)
        return scores


def test_a_bad_score_is_of_its_own_row_though_sources_repeat() -> None:
    class Maker:
        def make(self, batch: Batch) -> list[list[LabelledRow]]:
            tokens = [(int(source[0]), 2) for source in batch.sources]
            return [
                [LabelledRow((5, 2), "greedy", score=0.5), LabelledRow(one, "sample")]
                for one in tokens
            ]

    class Sources(list[torch.Tensor]):
        sizes = np.full(6, 2)

    # row 4's translation is the one with a 9; the sources' texts are all the same
    rows = [torch.tensor([9 if row == 4 else 7, 2]) for row in range(6)]
    alike = SimpleNamespace(decode_batch=lambda rows: ["the same"] * len(rows))
    texts = TextDecoders(cast("Any", alike), cast("Any", Words()))
    corpus = Corpus("test", [Path()], Sources(rows), Sources(rows), range(6))
    labeller = Labeller([Maker()], cast("Any", BadForNine()), texts, BatchLimits(100), 10)
    expected = re.escape("--metric bad: gives nan for row 4, ")
    with pytest.raises(RelabellingError, match=f"^{expected}"):
        labeller.label(corpus, range(1, 6), lambda rows: None)


def test_no_rows_are_no_batches() -> None:
    assert list(BatchLimits(10, 2).batches([])) == []
