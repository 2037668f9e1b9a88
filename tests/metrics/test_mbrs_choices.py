"""Minimum Bayes risk chooses what the package `mbrs` does, which is not needed here.

`make_mbrs_choices.py` has written down what it found; `test_against_mbrs.py` asks it itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.generators.search_metric import SearchUtility
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.search import Evaluations, Hypothesis
from fairseq_mcts.search.mbr import Candidates, rank_by_utility
from fairseq_mcts.search.scorer import Scorer
from tests.metrics.mbrs_choices import (
    CLOSE,
    FILE,
    LAYER,
    TASKS,
    Choices,
    Sentence,
    Task,
    read,
    save_encoder,
)


@pytest.fixture(scope="module")
def choices() -> Choices:
    return read()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, choices: Choices) -> Path:
    folder = tmp_path_factory.mktemp("encoders") / "encoder"
    save_encoder(folder, choices.sentences)
    return folder


class Texts:
    """Stands for the text decoder of a task: a candidate's only token is its number."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def decode(self, tokens: Any) -> str:
        return self.texts[tokens[0]]


def ranked(task: Task, sentences: list[Sentence], encoder: Path) -> list[dict[str, float]]:
    """The utility of each text of each sentence, best first."""
    options = f":model={encoder},layer={LAYER}" if task.metric == "bertscore" else ""
    texts = list(dict.fromkeys(text for one in sentences for text in one.texts))
    numbers = {text: number for number, text in enumerate(texts)}
    batch = []
    for one in sentences:
        finished = [
            Hypothesis((numbers[text],), logprob, (logprob,), None, 0.0, Evaluations(0, 0))
            for text, logprob in zip(one.texts, one.logprobs, strict=True)
        ]
        drawn = [finished[place] for place in one.drawn]
        batch.append(Candidates.of(drawn, by_probability=task.weights == "probability"))
    metric = build_metric(f"{task.metric}{options}")
    scorer = Scorer(SearchUtility(metric, Texts(texts), ()))  # type: ignore[arg-type]
    found = rank_by_utility(batch, scorer, aggregated=task.references == "aggregated")
    return [{texts[h.tokens[0]]: h.score for h in hypotheses} for hypotheses in found]


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_the_same_utilities_and_choices(task: Task, choices: Choices, encoder: Path) -> None:
    sentences, expected = choices.sentences, choices.utilities[task.name]
    for one, ours, theirs in zip(
        sentences, ranked(task, sentences, encoder), expected, strict=True
    ):
        assert [ours[text] for text in one.texts] == pytest.approx(theirs, abs=CLOSE)
        # texts of equal scores may be chosen differently, no others
        chosen = one.texts.index(next(iter(ours)))
        assert theirs[chosen] >= max(theirs) - 2 * CLOSE


def test_that_there_is_something_to_choose_from(choices: Choices) -> None:
    assert len(choices.sentences) == 200
    several = [one for one in choices.sentences if len(one.texts) > 3]
    repeated = [one for one in choices.sentences if len(one.drawn) > len(one.texts)]
    assert min(len(several), len(repeated)) > 150
    first = choices.utilities[TASKS[0].name]
    for task in TASKS[1:]:  # none of them is another one by a different name
        pairs = zip(first, choices.utilities[task.name], strict=True)
        assert sum(np.argmax(a) != np.argmax(b) for a, b in pairs) >= 1, task.name
    assert FILE.stat().st_size < 300_000
