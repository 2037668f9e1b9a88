"""Which decoders are stepped by what."""

import logging
from typing import Any

import pytest
import torch
from fairseq.models.transformer import TransformerDecoderBase

from fairseq_mcts.decoding.member import Member
from fairseq_mcts.decoding.placement import placement_of
from fairseq_mcts.decoding.recomputing_stepper import RecomputingStepper
from fairseq_mcts.decoding.stepper import TransformerStepper
from fairseq_mcts.decoding.stepper_registry import can_step, make_stepper, register_stepper
from fairseq_mcts.models.multiquery_layers import MultiQueryDecoderLayer
from tests.decoding.networks import (
    BATCH,
    VOCABULARY,
    dual_head,
    fairseq_transformer,
    multiquery_policy,
    sources,
)
from tests.models.toys import PAD


@pytest.mark.parametrize("make", [fairseq_transformer, multiquery_policy, dual_head])
def test_a_decoder_with_features_of_its_own_is_not_stepped(make: Any) -> None:
    decoder = make().decoder
    assert can_step(decoder)
    kind = type(decoder)

    class WithFeatures(kind):  # type: ignore[misc, valid-type]
        def extract_features(self, *args: Any, **options: Any) -> Any:
            return super().extract_features(*args, **options)

    decoder.__class__ = WithFeatures
    assert not can_step(decoder)


@pytest.mark.parametrize("make", [multiquery_policy, dual_head])
def test_a_decoder_with_layers_of_its_own_is_not_stepped(make: Any) -> None:
    class OwnLayer(MultiQueryDecoderLayer):
        def feed_forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().feed_forward(x)

    decoder = make().decoder
    decoder.layers[1].__class__ = OwnLayer
    assert not can_step(decoder)


def new_decoder_class() -> type:
    """Its features are recomputed unless a stepper is registered for it."""

    class OwnDecoder(TransformerDecoderBase):  # type: ignore[misc]
        def extract_features(self, *args: Any, **options: Any) -> Any:
            return super().extract_features(*args, **options)

    return OwnDecoder


def model_with(decoder_class: type) -> Any:
    model = fairseq_transformer()
    model.decoder.__class__ = decoder_class
    return model


def stepper_of(model: Any) -> Any:
    return make_stepper(model, PAD, placement_of(model))


def test_a_registered_stepper_is_for_its_class_alone(caplog: pytest.LogCaptureFixture) -> None:
    known = new_decoder_class()

    class Subclass(known):  # type: ignore[misc, valid-type]
        pass

    model, other = model_with(known), model_with(Subclass)
    assert isinstance(stepper_of(model), RecomputingStepper)

    @register_stepper(known)
    class OwnStepper(TransformerStepper):
        pass

    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert isinstance(stepper_of(model), OwnStepper)
        assert not caplog.text
        assert isinstance(stepper_of(other), RecomputingStepper)
        assert "Subclass has no stepper" in caplog.text


@torch.no_grad()
def test_a_stepper_of_another_kind_gets_what_the_encoder_gives() -> None:
    class OwnStepper(RecomputingStepper):
        def __init__(self, decoder: Any, placement: Any) -> None:
            super().__init__(model, PAD)

    model = model_with(new_decoder_class())
    register_stepper(type(model.decoder))(OwnStepper)
    member = Member(model, VOCABULARY, policy=True, value=False)
    assert isinstance(member.stepper, OwnStepper)
    assert "src_lengths" in member.encode(sources(BATCH))
