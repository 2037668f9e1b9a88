"""fairseq's console scripts, run as a user runs them, on a corpus that a tiny model can learn."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
TEST_LINES = 41  # not a multiple of 8: fairseq alone drops the last of them


@dataclass(frozen=True)
class Fairseq:
    """Runs `fairseq-<command>` in one folder, with the plugin."""

    folder: Path

    def command(self, name: str, *options: str) -> list[str]:
        user_dir = [] if name == "score" else ["--user-dir", str(REPOSITORY / "user_dir")]
        return [str(SCRIPTS / f"fairseq-{name}"), *user_dir, *options]

    def start(self, name: str, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(name, *options),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def run(self, name: str, *options: str, lines: str = "") -> str:
        """Return what the command prints; it must succeed and must not warn."""
        process = self.start(name, *options)
        out, err = process.communicate(lines)
        assert process.returncode == 0, f"{out[-2000:]}\n{err[-4000:]}"
        assert "Warning" not in err, err
        return out

    def fail(self, name: str, *options: str) -> str:
        """Return what a command says on stderr that must fail."""
        process = self.start(name, *options)
        _, err = process.communicate()
        assert process.returncode != 0
        return err


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
