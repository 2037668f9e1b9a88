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
from tests.training.scored_corpus import Sentence, write_scored_split

pytestmark = pytest.mark.slow(seconds=40)

GROUPS = 3  # of words
WORDS = 4  # in each of them
LENGTH = 4  # of sources and samples
RIGHT = 0.75  # probability that a word of a sample is right
ROWS = {"train": 8000, "valid": 300}

# mean distance of the learned value from the known one
LARGEST_ERROR = 0.04


def make_row(dice: random.Random, first_word: int, eos: int) -> tuple[Sentence, Sentence, float]:
    """A source of words of one group; words of that group are right in its sample, others wrong."""
    vocabulary = range(first_word, first_word + GROUPS * WORDS)
    group = dice.randrange(GROUPS)
    good = vocabulary[group * WORDS : (group + 1) * WORDS]
    bad = [word for word in vocabulary if word not in good]
    source = [dice.choice(good) for _ in range(LENGTH)]
    right = [dice.random() < RIGHT for _ in range(LENGTH)]
    sample = [dice.choice(good if one else bad) for one in right]
    return np.array([*source, eos]), np.array([*sample, eos]), sum(right) / LENGTH


def known_values(source: Sentence, sample: Sentence, first_word: int) -> list[float]:
    """The expected score of a sample after eos, y1, …, yn and eos: the share of what is right
    already, and of three in four of the words to come."""
    right = (sample[:-1] - first_word) // WORDS == (source[0] - first_word) // WORDS
    prefixes = [(right[:t].sum() + RIGHT * (LENGTH - t)) / LENGTH for t in range(LENGTH + 1)]
    return [*prefixes, prefixes[-1]]


@pytest.fixture(scope="module")
def rows(fairseq: Any) -> list[tuple[Sentence, Sentence, float]]:
    """Writes the folder `constructed`; the rows of its validation split."""
    words = Dictionary()
    for number in range(GROUPS * WORDS):
        words.add_symbol(f"w{number}")
    folder: Path = fairseq.folder / "constructed"
    folder.mkdir()
    for language in ("en", "de"):
        words.save(str(folder / f"dict.{language}.txt"))
    dice = random.Random(3)
    made = {}
    for split, count in ROWS.items():
        made[split] = [make_row(dice, words.nspecial, words.eos()) for _ in range(count)]
        sources, samples, scores = (list(column) for column in zip(*made[split], strict=True))
        write_scored_split(folder, split, sources, samples, sources, scores, len(words))
    return made["valid"]


def test_the_value_head_learns_a_known_function(
    fairseq: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fairseq.run(
        "train",
        *("constructed", "--task", "translation_mcts", "--cpu", "--seed", "1"),
        *("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings"),
        *("--encoder-embed-dim", "64", "--decoder-embed-dim", "64", "--dropout", "0"),
        *("--init-std", "0.2", "--criterion", "value", "--policy-loss", "nll"),
        *("--value-preset", "paper", "--value-weight", "1", "--value-buckets", "21"),
        *("--value-min", "-0.025", "--value-max", "1.025"),  # 0, 1/4, … are means of buckets
        *("--optimizer", "adam", "--lr", "0.001", "--lr-scheduler", "polynomial_decay"),
        *("--warmup-updates", "100", "--total-num-update", "400", "--max-update", "400"),
        *("--batch-size", "100", "--clip-norm", "1", "--disable-validation"),
        *("--save-dir", "constructed-model", "--no-epoch-checkpoints", "--log-format", "json"),
    )
    monkeypatch.chdir(fairseq.folder)
    register()
    [model], _, task = checkpoint_utils.load_model_ensemble_and_task(
        ["constructed-model/checkpoint_last.pt"]
    )
    sources, samples, scores = (np.array(column) for column in zip(*rows, strict=True))
    words = task.target_dictionary
    known = np.array(
        [known_values(*pair, words.nspecial) for pair in zip(sources, samples, strict=True)]
    )  # [B, T]
    assert known[:, -1].tolist() == scores.tolist()
    with torch.no_grad():
        _, extra = model.eval()(
            torch.from_numpy(sources),
            torch.full((len(sources),), LENGTH + 1),
            torch.from_numpy(np.insert(samples, 0, words.eos(), axis=1)),
        )
    errors = np.abs(extra["value"].numpy() - known)
    prefixes, finished = errors[:, :-1].mean(), errors[:, -1].mean()
    print(f"mean error of prefixes {prefixes:.4f}, of finished samples {finished:.4f}")
    assert prefixes < LARGEST_ERROR
    assert finished < LARGEST_ERROR
    # a value that knows nothing of source and sample is much worse
    assert prefixes < 0.4 * np.abs(known[:, :-1] - RIGHT).mean()
    assert finished < 0.3 * np.abs(scores - RIGHT).mean()
    # the value after eos is as good as those before
    assert finished < 1.5 * prefixes
