"""A folder with scores and a policy, for training by fairseq's own commands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import write_corpus
from tests.training.forked_fairseq import ForkedFairseq
from tests.training.scored_corpus import write_scored_folder

Options = Callable[..., list[str]]

SMALL = (
    *("--encoder-layers", "1", "--decoder-layers", "1", "--share-all-embeddings"),
    *("--encoder-embed-dim", "32", "--decoder-embed-dim", "32"),
)
STEPS = (
    *("--optimizer", "adam", "--lr", "0.01", "--max-tokens", "500", "--cpu", "--seed", "7"),
    *("--log-format", "json", "--no-epoch-checkpoints"),
)


@pytest.fixture(scope="session")
def fairseq(tmp_path_factory: pytest.TempPathFactory) -> ForkedFairseq:
    """fairseq's commands in a folder with a corpus, already preprocessed into `bin`."""
    folder = tmp_path_factory.mktemp("training")
    write_corpus(folder)
    fairseq = ForkedFairseq(folder)
    fairseq.run(
        "preprocess",
        *("--task", "translation_mcts", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", "train", "--validpref", "valid", "--testpref", "test"),
        *("--joined-dictionary", "--destdir", "bin"),
    )
    return fairseq


@pytest.fixture(scope="session")
def scored(fairseq: ForkedFairseq) -> Path:
    """The folder `scored` with samples and scores of the corpus."""
    write_scored_folder(fairseq.folder, fairseq.folder / "bin", fairseq.folder / "scored")
    return fairseq.folder / "scored"


@pytest.fixture(scope="session")
def policy(fairseq: ForkedFairseq) -> str:
    """A supervised policy, trained for a moment."""
    fairseq.run(
        "train",
        *("bin", "--task", "translation_mcts", "--arch", "multiquery_transformer_tiny", *SMALL),
        *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1", *STEPS),
        *("--max-epoch", "25", "--disable-validation", "--save-dir", "policy"),
    )
    return "policy/checkpoint_last.pt"


@pytest.fixture(scope="session")
def value_options(scored: Path) -> Options:
    """Options that train a very small dual-head model on the scored data into `save_dir`."""

    def options(save_dir: str, *more: str, criterion: str = "value") -> list[str]:
        return [
            *("scored", "--task", "translation_mcts"),
            *("--arch", "dual_head_multiquery_transformer_tiny", *SMALL, "--value-buckets", "50"),
            *("--criterion", criterion, "--value-weight", "1", *STEPS),
            *("--save-dir", save_dir, *more),
        ]

    return options
