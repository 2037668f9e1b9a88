"""How far a batch is: told while it is searched, without any effect on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.generators.harness import DECODERS, Setup, load
from tests.generators.trained import Trained

SENTENCES = list(range(12))


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def told_and_found(setup: Setup, **given: Any) -> tuple[list[int], dict[int, Any]]:
    """How many sentences were finished when something was told, and hypotheses by sentence."""
    generator = setup.generator(max_len_b=12, **given)
    told: list[int] = [0]

    @contextmanager
    def progress(sentences: int) -> Iterator[Any]:
        assert sentences == len(SENTENCES)
        yield lambda more: told.append(told[-1] + more)

    generator.progress = progress
    dataset = setup.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in SENTENCES])
    found = setup.task.inference_step(generator, setup.models, sample)
    return told, dict(zip(sample["id"].tolist(), found, strict=True))


@pytest.mark.parametrize("name", DECODERS)
def test_all_sentences_are_told_of_in_the_end(setup: Setup, name: str) -> None:
    told, found = told_and_found(setup, **DECODERS[name])
    assert told[-1] == len(SENTENCES)
    assert min(told) >= 0 and max(told) == len(SENTENCES)
    expected = setup.generate(SENTENCES, max_len_b=12, **DECODERS[name])
    assert found.keys() == expected.keys()
    for number, hypotheses in found.items():
        assert [one["tokens"].tolist() for one in hypotheses] == [
            one["tokens"].tolist() for one in expected[number]
        ]


def test_sentences_finish_one_by_one(setup: Setup) -> None:
    told, _ = told_and_found(setup, **DECODERS["mcts_mean"])
    assert len(set(told)) > 3


def test_comparing_is_half_of_the_way(setup: Setup) -> None:
    told, _ = told_and_found(setup, **DECODERS["mbr"])
    half = len(SENTENCES) // 2
    assert half in told  # all have been searched
    assert any(half < one < len(SENTENCES) for one in told)  # some have been compared


def test_a_batch_that_is_split_takes_back_what_it_told(setup: Setup) -> None:
    told, _ = told_and_found(setup, search_memory=0.2, **DECODERS["mcts_mean"])
    assert told[-1] == len(SENTENCES) == max(told)
