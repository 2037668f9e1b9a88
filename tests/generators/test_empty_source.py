"""A source without a token has an empty translation, unless it is to be translated."""

from typing import Any

import pytest
import torch

from tests.generators.harness import DECODERS, Setup, load
from tests.generators.trained import Trained


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


@pytest.mark.parametrize("options", DECODERS.values(), ids=DECODERS)
def test_an_empty_source_stays_empty_and_others_are_as_without_it(
    setup: Setup, options: dict[str, Any]
) -> None:
    eos = setup.task.target_dictionary.eos()
    generator = setup.generator(**options)
    others = setup.sources([0, 5])
    alone = generator.translate(others)
    together = generator.translate([others[0], torch.tensor([eos]), others[1]])
    assert [one.tokens for one in together[1]] == [(eos,)]
    assert [together[0][0].tokens, together[2][0].tokens] == [one[0].tokens for one in alone]


def test_it_is_translated_where_that_is_asked_for(setup: Setup) -> None:
    eos = setup.task.target_dictionary.eos()
    options = {"search": "sr", "sr_samples": 20, "sr_temperature": 3.0, "min_len": 2}
    [hypotheses] = setup.generator(**options, translate_empty=True).translate([torch.tensor([eos])])
    assert len(hypotheses[0].tokens) > 2
