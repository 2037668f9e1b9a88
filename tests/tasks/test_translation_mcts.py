"""What the task adds to fairseq's translation."""

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.dataclass.utils import gen_parser_from_dataclass

from fairseq_mcts.search import (
    Decoder,
    DecoderOptions,
    Run,
    decoder_names,
    option,
    register_decoder,
)
from fairseq_mcts.tasks.search_config import make_config
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask


@pytest.fixture
def _denormals_as_before() -> Iterator[None]:
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("_denormals_as_before")
def test_training_on_a_cpu_flushes_denormal_numbers() -> None:
    denormal = torch.tensor(1e-39)
    assert denormal * 0.5 > 0

    task = TranslationMctsTask(make_config()(), Dictionary(), Dictionary())
    task.begin_epoch(1, torch.nn.Linear(1, 1))

    assert denormal * 0.5 == 0


def test_task_takes_the_options_of_translation() -> None:
    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, make_config()())
    assert parser.parse_args(["bin", "--source-lang", "en"]).source_lang == "en"


def test_a_decoder_whose_flags_exist_already_is_refused() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class PathOptions(DecoderOptions):
        path: str = option("", "a flag of all searches")

    class Value(Decoder[PathOptions]):
        Options = PathOptions

        def search(self, run: Run) -> Any:
            raise AssertionError("is never started")

    with pytest.raises(ValueError, match="has a flag that exists already: --value-path"):
        register_decoder("value")(Value)
    assert "value" not in decoder_names()
    make_config()


def batches(epoch: int, **options: bool) -> list[list[int]]:
    """Those of a training that begins in this epoch."""
    sentences = [torch.tensor([4, 2])] * 40
    task = TranslationMctsTask(make_config()(), Dictionary(), Dictionary())
    dataset = LanguagePairDataset(sentences, [2] * len(sentences), task.source_dictionary)
    iterator = task.get_batch_iterator(dataset, max_sentences=8, epoch=epoch, **options)
    return [list(batch) for batch in iterator.frozen_batches]


def test_batches_are_those_of_the_first_epoch_unless_new_ones_are_asked_for() -> None:
    assert batches(1) == batches(2)
    assert batches(1, update_epoch_batch_itr=True) != batches(2, update_epoch_batch_itr=True)
