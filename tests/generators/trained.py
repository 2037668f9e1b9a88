"""Two small models trained on short sentences of the demo corpus, with fairseq's own commands.

The first has both heads. Nothing trains its value here, so its head is made to disagree with itself
from prefix to prefix: what the tests need is a value that matters, not one that is right.
"""

import fcntl
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from examples.common import subwords
from tests.console import REPOSITORY, Fairseq

LANGUAGES = ("en", "de")
PAIRS = 1000
LONGEST = 6  # words
UNSEEN, SEEN = 40, 55  # test sentences: on the second kind the policies are sure of themselves
PIECES = 700
VALUE_SCALE = 30.0

DUAL = ("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings")
PLAIN = (
    *("--arch", "transformer", "--share-all-embeddings"),
    *("--encoder-layers", "2", "--encoder-embed-dim", "128", "--encoder-ffn-embed-dim", "256"),
    *("--decoder-layers", "2", "--decoder-embed-dim", "128", "--decoder-ffn-embed-dim", "256"),
    *("--encoder-attention-heads", "4", "--decoder-attention-heads", "4"),
)

USER_DIR = '''"""A user's own plugin: this project, and a metric of the user's."""

import fairseq_mcts.register
import tests.generators.vowels

fairseq_mcts.register.register()
'''


@dataclass(frozen=True)
class Trained:
    """Where everything lies."""

    folder: Path

    @property
    def fairseq(self) -> Fairseq:
        return Fairseq(self.folder, self.folder / "plugin")

    @property
    def data(self) -> Path:
        return self.folder / "bin"

    @property
    def dual(self) -> Path:
        return self.folder / "dual.pt"

    @property
    def plain(self) -> Path:
        return self.folder / "plain" / "checkpoint_last.pt"

    @property
    def sentencepiece(self) -> Path:
        return self.folder / "subwords" / "sentencepiece.model"

    def lines(self, name: str) -> list[str]:
        """A file of the corpus, e.g. test.en."""
        return (self.folder / "corpus" / name).read_text(encoding="utf-8").splitlines()


def prepare(folder: Path) -> Trained:
    """Trains the models, unless another process has done so."""
    folder.mkdir(exist_ok=True)
    trained = Trained(folder)
    finished = folder / "finished"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            _make_data(trained)
            _train(trained)
            _give_opinions(folder / "dual" / "checkpoint_last.pt", trained.dual)
            finished.touch()
    return trained


def _make_data(trained: Trained) -> None:
    folder = trained.folder
    subprocess.run(
        [
            *(sys.executable, "-m", "examples.demo.language.corpus", "--out", str(folder / "all")),
            *("--train", "4200", "--valid", "100", "--test", "200", "--seed", "1"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=REPOSITORY,
    )
    for name in ("corpus", "subwords", "plugin"):
        (folder / name).mkdir()
    train = _short_pairs(folder / "all", "train")[:PAIRS]
    splits = {
        "train": train,
        "valid": _short_pairs(folder / "all", "valid"),
        "test": _short_pairs(folder / "all", "test")[:UNSEEN] + train[:SEEN],
    }
    for split, pairs in splits.items():
        for side, language in enumerate(LANGUAGES):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / "corpus" / f"{split}.{language}").write_text(text, encoding="utf-8")
    model = subwords.learn(folder / "corpus", LANGUAGES, folder / "subwords", PIECES)
    for path in (folder / "corpus").iterdir():
        subwords.split(model, path, folder / "subwords" / path.name)
    (folder / "plugin" / "__init__.py").write_text(USER_DIR, encoding="utf-8")
    trained.fairseq.run(
        "preprocess",
        *("--task", "translation_mcts", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", "subwords/train", "--validpref", "subwords/valid"),
        *("--testpref", "subwords/test", "--joined-dictionary", "--destdir", "bin"),
    )


def _short_pairs(folder: Path, split: str) -> list[Sequence[str]]:
    sides = [
        (folder / f"{split}.{language}").read_text(encoding="utf-8").splitlines()
        for language in LANGUAGES
    ]
    return [pair for pair in zip(*sides, strict=True) if len(pair[0].split()) <= LONGEST]


def _train(trained: Trained) -> None:
    """Both models side by side, one thread each."""
    running = [
        trained.fairseq.start(
            "train",
            *("bin", "--task", "translation_mcts", "--cpu", "--seed", "1", *architecture),
            *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
            *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--dropout", "0"),
            *("--lr", "0.005", "--lr-scheduler", "inverse_sqrt", "--warmup-updates", "100"),
            *("--max-tokens", "800", "--max-update", "350", "--log-format", "none"),
            *("--disable-validation", "--no-epoch-checkpoints", "--save-dir", name),
        )
        for name, architecture in (("dual", DUAL), ("plain", PLAIN))
    ]
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, f"{out[-2000:]}\n{err[-4000:]}"


def _give_opinions(source: Path, target: Path) -> None:
    state = torch.load(source, weights_only=False)
    state["model"]["decoder.value_head.projection.weight"] *= VALUE_SCALE
    torch.save(state, target)
