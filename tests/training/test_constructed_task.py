"""A task in which the value of every prefix is known: the value head learns it."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary

from fairseq_mcts.register import register
from tests.training.conftest import SMALL
from tests.training.scored_corpus import Sentence, write_scored_split

pytestmark = pytest.mark.slow

WORDS = 12
LENGTHS = (3, 6)  # of sources and their samples
RIGHT = 0.5  # probability that a word of a sample is right
ROWS = {"train": 6000, "valid": 400}

# mean distance of the learned value from the known one, of which chance decides 0.14 on average
LARGEST_ERROR = 0.05


def make_rows(dice: random.Random, first_word: int, eos: int) -> tuple[Sentence, Sentence, float]:
    """A source of different words and a sample as long: each of its words is right, which means
    that the source has it, or one that the source does not have."""
    vocabulary = range(first_word, first_word + WORDS)
    source = dice.sample(vocabulary, dice.randint(*LENGTHS))
    others = [word for word in vocabulary if word not in source]
    right = [dice.random() < RIGHT for _ in source]
    sample = [dice.choice(source if good else others) for good in right]
    return np.array([*source, eos]), np.array([*sample, eos]), sum(right) / len(right)


def known_values(source: Sentence, sample: Sentence) -> list[float]:
    """The expected score of a sample after eos, y1, …, yn and eos: what is right already, and
    half of the words to come."""
    length = len(source) - 1
    right = np.isin(sample[:-1], source[:-1])
    prefixes = [(right[:t].sum() + RIGHT * (length - t)) / length for t in range(length + 1)]
    return [*prefixes, prefixes[-1]]


@pytest.fixture(scope="module")
def rows(fairseq: Any) -> list[tuple[Sentence, Sentence, float]]:
    """Writes the folder `constructed`; the rows of its validation split."""
    words = Dictionary()
    for number in range(WORDS):
        words.add_symbol(f"w{number}")
    folder: Path = fairseq.folder / "constructed"
    folder.mkdir()
    for language in ("en", "de"):
        words.save(str(folder / f"dict.{language}.txt"))
    dice = random.Random(3)
    made = {}
    for split, count in ROWS.items():
        made[split] = [make_rows(dice, words.nspecial, words.eos()) for _ in range(count)]
        sources, samples, scores = (list(column) for column in zip(*made[split], strict=True))
        write_scored_split(folder, split, sources, samples, sources, scores, len(words))
    return made["valid"]


def test_the_value_head_learns_a_known_function(
    fairseq: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fairseq.run(
        "train",
        *("constructed", "--task", "translation_mcts", "--cpu", "--seed", "1"),
        *("--arch", "dual_head_multiquery_transformer_tiny", *SMALL, "--dropout", "0"),
        *("--criterion", "value", "--policy-weight", "0", "--value-weight", "1"),
        *("--value-buckets", "21", "--value-min", "-0.025", "--value-max", "1.025"),
        *("--optimizer", "adam", "--lr", "0.005", "--lr-scheduler", "polynomial_decay"),
        *("--warmup-updates", "50", "--total-num-update", "1200", "--max-update", "1200"),
        *("--max-tokens", "800", "--save-dir", "constructed-model", "--no-epoch-checkpoints"),
        *("--disable-validation", "--log-format", "json"),
    )
    monkeypatch.chdir(fairseq.folder)
    register()
    [model], _, task = checkpoint_utils.load_model_ensemble_and_task(
        ["constructed-model/checkpoint_last.pt"]
    )
    model.eval()
    errors: dict[bool, list[float]] = {False: [], True: []}  # by whether the sample is finished
    eos = task.target_dictionary.eos()
    for source, sample, score in rows:
        known = known_values(source, sample)
        assert known[-1] == pytest.approx(score)
        with torch.no_grad():
            _, extra = model(
                torch.tensor([source]),
                torch.tensor([len(source)]),
                torch.tensor([[eos, *sample]]),
            )
        for position, (value, truth) in enumerate(zip(extra["value"][0], known, strict=True)):
            errors[position == len(known) - 1].append(abs(float(value) - truth))

    prefixes, finished = np.mean(errors[False]), np.mean(errors[True])
    print(f"mean error of prefixes {prefixes:.4f}, of finished samples {finished:.4f}")
    assert prefixes < LARGEST_ERROR
    assert finished < LARGEST_ERROR
    # the value after eos is as good as those before
    assert finished < 1.5 * prefixes
