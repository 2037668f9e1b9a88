"""Data with scores for training tests: samples are references in which some words are wrong."""

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from fairseq.data import Dictionary

from fairseq_mcts.data.scored_folder import ROW, ScoredRows, ScoredSplitWriter, SplitNames
from fairseq_mcts.data.token_file import TokenRows

Sentence = npt.NDArray[np.int64]
RECORD = {
    # without a lower bound, so that tests see both kinds of range
    "metric": {"name": "share of right words", "range": [None, 1.0]},
    "methods": ["spoiled reference"],
}


def write_scored_split(
    folder: Path,
    split: str,
    sources: list[Sentence],
    samples: list[Sentence],
    references: list[Sentence],
    scores: list[float],
    vocabulary: int,
) -> None:
    """The files that fairseq-mcts-relabel makes of a split."""
    writer = ScoredSplitWriter(
        SplitNames(folder, split, "en", "de"),
        len(scores),
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
    )
    writer.add(
        ScoredRows(
            TokenRows.of(sources),
            TokenRows.of(samples),
            TokenRows.of(references),
            np.array(scores, np.float32),
            np.rec.fromarrays(
                [np.arange(len(scores)), np.zeros(len(scores)), np.zeros(len(scores))], dtype=ROW
            ),
        )
    )
    writer.finish(RECORD)


def write_scored_folder(text: Path, dictionaries: Path, out: Path) -> None:
    """From the text of a corpus: a sample is the reference with up to all words replaced, its
    score the share of words that were not."""
    out.mkdir()
    for language in ("en", "de"):
        name = f"dict.{language}.txt"
        (out / name).write_bytes((dictionaries / name).read_bytes())
    source_words, target_words = (
        Dictionary.load(str(out / f"dict.{language}.txt")) for language in ("en", "de")
    )
    dice = random.Random(5)
    for split in ("train", "valid"):
        sources, references = (
            [
                words.encode_line(line, add_if_not_exist=False).numpy().astype(np.int64)
                for line in (text / f"{split}.{language}").read_text().splitlines()
            ]
            for language, words in (("en", source_words), ("de", target_words))
        )
        samples, scores = [], []
        for reference in references:
            sample = reference.copy()
            spoiled = dice.sample(range(len(sample) - 1), dice.randint(0, len(sample) - 2))
            for position in spoiled:
                sample[position] = target_words.unk()
            samples.append(sample)
            scores.append(1 - len(spoiled) / (len(sample) - 1))
        write_scored_split(out, split, sources, samples, references, scores, len(target_words))


def json_logs(output: str, tag: str) -> list[dict[str, Any]]:
    """The lines `| train | {…}` or `| valid | {…}` of --log-format json, numbers as such."""
    found = re.findall(rf"\| {tag} \| (\{{.*\}})", output)
    return [{name: float(value) for name, value in json.loads(line).items()} for line in found]


def saved_state(path: Path) -> dict[str, Any]:
    """What a checkpoint that a test has made itself holds."""
    state: dict[str, Any] = torch.load(path, weights_only=False)
    return state
