"""What training of values does not accept, and what it says then."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.data.scored_folder import SplitNames
from tests.training.conftest import STEPS
from tests.training.scored_corpus import write_scored_folder

pytestmark = pytest.mark.slow

NLL = ("--policy-loss", "nll")


@pytest.fixture
def refused(fairseq: Any, value_options: Any) -> Callable[..., str]:
    """What the last line on stderr says when training is refused."""

    def run(*more: str, data: str = "scored") -> str:
        # without workers, whose own complaints about the sudden end may come last
        limits = ("--max-update", "1", "--no-save", "--num-workers", "0")
        options = value_options("refused", *more, *limits)
        complaint: str = fairseq.fail("train", data, *options[1:])
        return complaint.strip().splitlines()[-1]

    return run


def preprocess(fairseq: Any, out: str, *options: str) -> Path:
    fairseq.run(
        "preprocess",
        *("--task", "translation_mcts", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", "train", "--validpref", "valid", "--destdir", out, *options),
    )
    folder: Path = fairseq.folder / out
    return folder


def test_separate_dictionaries_for_hybrid(fairseq: Any) -> None:
    folder = preprocess(fairseq, "separate")
    write_scored_folder(fairseq.folder, folder, fairseq.folder / "separate-scored")
    complaint = fairseq.fail(
        "train",
        *("separate-scored", "--task", "translation_mcts", "--arch"),
        *("dual_head_multiquery_transformer_tiny", "--criterion", "hybrid", *NLL, *STEPS),
    )
    assert "--criterion hybrid: the encoder also reads target-language text" in complaint
    assert "--joined-dictionary" in complaint


def test_scores_outside_the_given_range(refused: Any) -> None:
    complaint = refused(*NLL, "--value-max", "0.5")
    assert complaint.endswith("--value-max 0.5: the training scores go up to 1.0")
    assert "--value-min 0.9: the training scores go down to" in refused(*NLL, "--value-min", "0.9")


def test_data_without_scores(refused: Any) -> None:
    assert "the data has no scores: make a folder with fairseq-mcts-relabel" in refused(
        *NLL, data="bin"
    )


def test_a_teacher_with_another_dictionary(refused: Any, fairseq: Any, policy: str) -> None:
    # other words in the same number: nothing but the dictionary itself can tell
    text = (fairseq.folder / "bin" / "dict.en.txt").read_text().replace("u3 ", "other ")
    foreign = fairseq.folder / "foreign"
    shutil.copytree(fairseq.folder / "scored", foreign)
    for language in ("en", "de"):
        (foreign / f"dict.{language}.txt").write_text(text)
    complaint = refused("--teacher-path", policy, data="foreign")
    assert f"--teacher-path {policy}: was trained with bin/dict.en.txt, which is not" in complaint
    # more words
    for language in ("en", "de"):
        (foreign / f"dict.{language}.txt").write_text(text + "more 1\n")
    assert f"--teacher-path {policy}: does not fit the dictionaries of the data" in refused(
        "--teacher-path", policy, data="foreign"
    )


def test_scores_that_are_no_numbers(refused: Any, fairseq: Any) -> None:
    broken = fairseq.folder / "broken"
    shutil.copytree(fairseq.folder / "scored", broken)
    path = SplitNames(broken, "train", "en", "de").score
    scores = np.load(path)
    scores[17] = np.nan
    np.save(path, scores)
    complaint = refused(*NLL, data="broken")
    assert complaint.endswith("train.en-de.score.npy: row 17 has score nan: no number")


def test_search_in_validation_without_text(refused: Any) -> None:
    assert "--eval-search needs --eval-bleu" in refused(*NLL, "--eval-search", "mcts")
    assert "--search vgbs: give either this or --eval-search" in refused(
        *NLL, "--eval-bleu", "--eval-search", "mcts", "--search", "vgbs"
    )


def test_trees_of_validations(refused: Any) -> None:
    assert "--mcts-trees here: not in validations" in refused(
        *NLL, "--eval-bleu", "--eval-search", "mcts", "--mcts-trees", "here"
    )


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ("value", "--freeze-policy: nothing would follow from the policy loss; add --policy-w"),
        ("hybrid", "--freeze-policy: --criterion hybrid draws the policy's own layers"),
    ],
)
def test_losses_of_a_frozen_policy(
    fairseq: Any, scored: Path, policy: str, criterion: str, message: str
) -> None:
    complaint = fairseq.fail(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", policy, "--freeze-policy", "--criterion", criterion, *NLL, *STEPS),
        *("--max-update", "1", "--save-dir", "refused", "--no-save"),
    )
    assert message in complaint


def test_a_policy_without_a_checkpoint(fairseq: Any, scored: Path) -> None:
    complaint = fairseq.fail(
        "train",
        *("scored", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--criterion", "value", "--policy-weight", "0", *STEPS),
    )
    assert "--arch policy_with_value needs --policy-path" in complaint


def test_another_size_than_that_of_the_policy_to_start_from(refused: Any, policy: str) -> None:
    assert f"Cannot load model parameters from checkpoint {policy}" in refused(
        *NLL, "--finetune-from-model", policy, "--encoder-ffn-embed-dim", "64"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policy-loss", "nll", "--teacher-path", "some.pt"), "--teacher-path: not with"),
        (("--policy-weight", "0", "--label-smoothing", "0.1"), "--label-smoothing: belongs to"),
        (("--policy-loss", "nll", "--hl-gauss-sigma", "2"), "--hl-gauss-sigma: belongs to"),
        (("--policy-loss", "kl"), "--policy-loss kl needs --teacher-path"),
    ],
)
def test_options_that_nothing_would_read(
    refused: Any, options: tuple[str, ...], message: str
) -> None:
    assert message in refused(*options)
