"""A tiny corpus and policy, and an undisturbed run on them, once for all tests of the command."""

import random
from functools import partial
from pathlib import Path

import pytest

from fairseq_mcts.cli import relabel
from tests.cli.relabel.runs import (
    CHUNKS,
    POLICY,
    ROWS,
    logged,
    preprocess,
    relabelled,
    succeed,
    train,
    training,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds a corpus in `bin` and a policy in `model`: words are translated one by one."""
    folder = tmp_path_factory.mktemp("relabel")
    dice = random.Random(1)
    for split, count in ROWS.items():
        sentences = [[dice.randrange(12) for _ in range(dice.randint(3, 9))] for _ in range(count)]
        for language, letter in (("en", "w"), ("de", "u")):
            lines = (" ".join(f"{letter}{n}" for n in sentence) for sentence in sentences)
            (folder / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    succeed(
        partial(logged, preprocess.cli_main),
        folder,
        *("--source-lang", "en", "--target-lang", "de", "--joined-dictionary"),
        *("--trainpref", "train", "--validpref", "valid", "--destdir", "bin"),
    )
    succeed(partial(logged, train.cli_main), folder, "bin", *training("model"), "--max-epoch", "12")
    # once in this process: its forks then have the compiled search at hand
    policy, out = folder / "model" / "checkpoint_best.pt", folder / "first"
    options = ("--metric", "bleu", "--subset", "valid", "--cpu", "--max-len-b", "2")
    relabel.main([str(folder / "bin"), "--path", str(policy), "--out", str(out), *options])
    return folder


@pytest.fixture(scope="session")
def greedy(folder: Path) -> Path:
    """The result of an undisturbed run, which every other one must equal."""
    ended = relabelled(folder, *POLICY, *CHUNKS, "--metric", "bleu", "--out", "greedy")
    (folder / "greedy.txt").write_text(ended.out)
    (folder / "greedy.err").write_text(ended.err)
    return folder / "greedy"
