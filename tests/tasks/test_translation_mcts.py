"""What the task adds to fairseq's translation."""

import argparse
from collections.abc import Iterator

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass

from fairseq_mcts.tasks.translation_mcts import TranslationMctsConfig, TranslationMctsTask


@pytest.fixture
def _denormals_as_before() -> Iterator[None]:
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("_denormals_as_before")
def test_training_on_a_cpu_flushes_denormal_numbers() -> None:
    denormal = torch.tensor(1e-39)
    assert denormal * 0.5 > 0

    task = TranslationMctsTask(TranslationMctsConfig(), Dictionary(), Dictionary())
    task.begin_epoch(1, torch.nn.Linear(1, 1))

    assert denormal * 0.5 == 0


def test_task_takes_the_options_of_translation() -> None:
    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, TranslationMctsConfig())
    assert parser.parse_args(["bin", "--source-lang", "en"]).source_lang == "en"
