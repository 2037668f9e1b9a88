"""A corpus that a tiny model can learn, for fairseq's console scripts."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console import Fairseq

TEST_LINES = 41  # not a multiple of 8: fairseq alone drops the last of them


@pytest.fixture(scope="session")
def fairseq(tmp_path_factory: pytest.TempPathFactory) -> Fairseq:
    """Console scripts in a folder with a corpus, already preprocessed into `bin`."""
    folder = tmp_path_factory.mktemp("fairseq")
    write_corpus(folder)
    fairseq = Fairseq(folder)
    fairseq.run(
        "preprocess",
        *("--task", "translation_mcts", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", "train", "--validpref", "valid", "--testpref", "test"),
        *("--joined-dictionary", "--destdir", "bin"),
    )
    return fairseq


@pytest.fixture(scope="session")
def training_options() -> Callable[[str], list[str]]:
    """Options for a very small model that goes into the folder `save_dir`."""

    def options(save_dir: str) -> list[str]:
        return [
            *("bin", "--task", "translation_mcts", "--arch", "multiquery_transformer_tiny"),
            *("--encoder-layers", "1", "--decoder-layers", "1", "--share-all-embeddings"),
            *("--encoder-embed-dim", "32", "--decoder-embed-dim", "32"),
            *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
            *("--optimizer", "adam", "--lr", "0.01", "--max-tokens", "500"),
            *("--save-dir", save_dir, "--cpu", "--log-format", "simple", "--seed", "7"),
        ]

    return options


def write_corpus(folder: Path) -> None:
    """Translate words one by one: en `w3 w5` is de `u3 u5`."""
    dice = random.Random(0)
    for split, count in (("train", 300), ("valid", 21), ("test", TEST_LINES)):
        sentences = [[dice.randrange(20) for _ in range(dice.randint(3, 9))] for _ in range(count)]
        for language, letter in (("en", "w"), ("de", "u")):
            lines = (" ".join(f"{letter}{n}" for n in sentence) for sentence in sentences)
            (folder / f"{split}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
