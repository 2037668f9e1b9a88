"""What training of values does not accept, and what it says then."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.data.scored_folder import SplitNames
from tests.training.conftest import SMALL, STEPS
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


def with_other_words(fairseq: Any, out: str) -> Path:
    """The scored data with other words in the same number: only the dictionaries can tell."""
    text = (fairseq.folder / "bin" / "dict.en.txt").read_text().replace("u3 ", "other ")
    folder: Path = fairseq.folder / out
    shutil.copytree(fairseq.folder / "scored", folder)
    for language in ("en", "de"):
        (folder / f"dict.{language}.txt").write_text(text)
    return folder


def test_a_teacher_with_another_dictionary(refused: Any, fairseq: Any, policy: str) -> None:
    foreign = with_other_words(fairseq, "foreign")
    complaint = refused("--teacher-path", policy, data="foreign")
    dictionary = fairseq.folder / "bin" / "dict.en.txt"
    assert f"--teacher-path {policy}: was trained with {dictionary}, which is not" in complaint
    # more words
    for language in ("en", "de"):
        with (foreign / f"dict.{language}.txt").open("a") as dictionary:
            dictionary.write("more 1\n")
    assert f"--teacher-path {policy}: its encoder has a vocabulary of" in refused(
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
    assert "--search-trees here: not in validations" in refused(
        *NLL, "--eval-bleu", "--eval-search", "mcts", "--search-trees", "here"
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


def test_a_frozen_policy_with_another_dictionary(fairseq: Any, scored: Path, policy: str) -> None:
    with_other_words(fairseq, "foreign-to-policy")
    complaint = fairseq.fail(
        "train",
        *("foreign-to-policy", "--task", "translation_mcts", "--arch", "policy_with_value"),
        *("--policy-path", policy, "--freeze-policy", "--criterion", "value"),
        *("--policy-weight", "0", *STEPS, "--max-update", "1", "--no-save"),
    )
    dictionary = fairseq.folder / "bin" / "dict.en.txt"
    assert f"--policy-path {policy}: was trained with {dictionary}, which is not" in complaint


def test_scores_beyond_the_range_of_the_checkpoint(refused: Any, fairseq: Any) -> None:
    shutil.copytree(fairseq.folder / "scored", fairseq.folder / "halved")
    path = SplitNames(fairseq.folder / "halved", "train", "en", "de").score
    np.save(path, np.load(path) / 2)
    fairseq.run(
        "train",
        *("halved", "--task", "translation_mcts", "--arch"),
        *("dual_head_multiquery_transformer_tiny", *SMALL, "--value-buckets", "50"),
        *("--criterion", "value", *NLL, *STEPS, "--max-update", "1", "--disable-validation"),
        *("--save-dir", "of-halved", "--value-max", "0.5"),
    )
    complaint = refused(*NLL, "--finetune-from-model", "of-halved/checkpoint_last.pt")
    assert "to 0.5, but the training scores go from" in complaint


def test_another_size_than_that_of_the_policy_to_start_from(refused: Any, policy: str) -> None:
    complaint = refused(*NLL, "--finetune-from-model", policy, "--encoder-ffn-embed-dim", "64")
    assert f"--finetune-from-model {policy}: holds a multiquery_transformer_tiny" in complaint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policy-loss", "nll", "--teacher-path", "some.pt"), "--teacher-path: not with"),
        (("--policy-weight", "0", "--label-smoothing", "0.1"), "--label-smoothing: belongs to"),
        (
            ("--policy-loss", "nll", "--value-preset", "paper", "--hl-gauss-sigma", "2"),
            "--hl-gauss-sigma: belongs to",
        ),
        (("--policy-loss", "kl"), "--policy-loss kl needs --teacher-path"),
    ],
)
def test_options_that_nothing_would_read(
    refused: Any, options: tuple[str, ...], message: str
) -> None:
    assert message in refused(*options)


def test_a_plain_transformer_can_not_become_a_multiquery_one(fairseq: Any, refused: Any) -> None:
    fairseq.run(
        "train",
        *("bin", "--task", "translation", "--arch", "transformer", *SMALL, *STEPS),
        *("--criterion", "cross_entropy", "--max-update", "1", "--disable-validation"),
        *("--save-dir", "plain"),
    )
    path = "plain/checkpoint_last.pt"
    complaint = refused(*NLL, "--finetune-from-model", path)
    assert f"--finetune-from-model {path}: holds a transformer, which does not fit" in complaint
    assert f"--arch policy_with_value --policy-path {path} --freeze-policy" in complaint
