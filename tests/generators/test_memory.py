"""--search-memory: a batch that needs more is split, and its output stays the same."""

from typing import Any

import pytest

from fairseq_mcts.generators.failures import FailedSentenceError
from tests.generators.harness import Setup, load
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

MCTS = {"search": "mcts", "mcts_simulations": 20, "max_len_b": 12}
SENTENCES = range(24)
MEBIBYTE = 2**20
WIDTH = 128  # of the decoder


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def peak(setup: Setup, **options: Any) -> tuple[list[Any], int]:
    """What is found, and how large the largest batch was that was searched."""
    sizes = []
    generator = setup.generator(**MCTS, **options)
    search = generator._search

    def watched(jobs: list[Any], bos_token: int | None, *, ahead: bool) -> Any:
        found = search(jobs, bos_token, ahead=ahead)
        sizes.append(len(jobs))
        return found

    generator._search = watched
    dataset = setup.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in SENTENCES])
    found = setup.task.inference_step(generator, setup.models, sample)
    return [[one["tokens"].tolist(), one["score"]] for [one] in found], max(sizes)


def test_small_bound_splits_the_batch_and_changes_nothing(setup: Setup) -> None:
    unbounded, size = peak(setup)
    assert size == len(SENTENCES)
    # a slot: 2 layers of keys and values, 32 numbers each, and the features of the last layer
    bounded, size = peak(setup, search_memory=300 * (2 * 2 * 32 + WIDTH) * 4 / MEBIBYTE)
    assert 1 <= size < len(SENTENCES)
    assert bounded == unbounded


def test_bound_that_is_too_small_for_one_sentence_is_an_error(setup: Setup) -> None:
    complaint = (
        r"^sentence \d+: --search-memory is too little for a single sentence: .*--skip-failed"
    )
    with pytest.raises(FailedSentenceError, match=complaint):
        peak(setup, search_memory=0.001)
