"""A small folder with scores, and what is in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationConfig

from fairseq_mcts.data.scored_folder import ROW, ScoredRows, ScoredSplitWriter, SplitNames
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.tasks.search_config import make_config
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask

Sentences = list[npt.NDArray[np.int64]]

VOCABULARY = 30
PAD, EOS = 1, 2
RECORD = {"metric": {"name": "bleu", "range": [0.0, 1.0]}, "methods": ["greedy", "sample"]}


@dataclass(frozen=True)
class ScoredFolder:
    """A split on disk and its rows in memory."""

    names: SplitNames
    sources: Sentences
    samples: Sentences
    references: Sentences
    scores: npt.NDArray[np.float32]


def random_sentences(dice: np.random.Generator, count: int, longest: int) -> Sentences:
    """Tokens and a closing eos; now and then there are no tokens."""
    return [
        np.append(dice.integers(4, VOCABULARY, dice.integers(0, longest)), EOS)
        for _ in range(count)
    ]


@pytest.fixture
def scored(tmp_path: Path) -> ScoredFolder:
    """Fifty rows of the split `train`, written in three parts."""
    dice = np.random.default_rng(3)
    sources = random_sentences(dice, 50, 9)
    samples = random_sentences(dice, 50, 12)
    references = random_sentences(dice, 50, 11)
    scores = dice.random(50, dtype=np.float32)
    rows = np.zeros(50, ROW)
    rows["source"] = np.arange(50)
    names = SplitNames(tmp_path, "train", "en", "de")
    writer = ScoredSplitWriter(
        names, 50, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY
    )
    for part in (slice(0, 1), slice(1, 30), slice(30, 50)):
        writer.add(
            ScoredRows(
                TokenRows.of(sources[part]),
                TokenRows.of(samples[part]),
                TokenRows.of(references[part]),
                scores[part],
                rows[part],
            )
        )
    writer.finish(RECORD)
    return ScoredFolder(names, sources, samples, references, scores)


@pytest.fixture
def task(scored: Any) -> TranslationMctsTask:
    """A task on the folder; fairseq itself would fill in what other options decide."""
    dictionary = Dictionary()
    for number in range(VOCABULARY - len(dictionary)):
        dictionary.add_symbol(f"w{number}")
    cfg = make_config()(
        data=str(scored.names.folder),
        source_lang="en",
        target_lang="de",
        train_subset="train",
        dataset_impl=None,
        required_seq_len_multiple=1,
    )
    assert isinstance(cfg, TranslationConfig)
    return TranslationMctsTask(cfg, dictionary, dictionary)
