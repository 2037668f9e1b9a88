"""The decoders' options as flags: what old checkpoints hold, what clashes, what is hinted at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from fairseq_mcts.generators.decoder_flags import (
    decoder_flags,
    decoder_from_settings,
    flags_instead_of,
    metric_settings,
)
from fairseq_mcts.search import Decoder, DecoderOptions, Run, option, register_decoder, registry
from fairseq_mcts.search.decoders.beam import BeamDecoder
from fairseq_mcts.search.options import positive
from fairseq_mcts.tasks.search_config import unset_search_fields


@dataclass(frozen=True, kw_only=True)
class WarmOptions(DecoderOptions):
    temperature: float = option(1.0, "how warm", check=positive)


class Warm(Decoder[WarmOptions]):
    """Is warm."""

    Options = WarmOptions
    uses_metric = True

    def search(self, run: Run) -> Any:
        raise AssertionError("is never started here")


@pytest.fixture
def warm() -> Iterator[str]:
    register_decoder("warm")(Warm)
    yield "warm"
    registry.unregister_decoder("warm")


def test_what_checkpoints_of_version_0_1_hold_is_no_request() -> None:
    """Their task has --beam-normalization length, whatever they are decoded by."""
    old = {**unset_search_fields(), "beam_normalization": "length", "search": "mcts"}
    assert decoder_from_settings(old).name == "mcts"
    with pytest.raises(ValueError, match=r"^--beam-normalization gnmt: has no effect with"):
        decoder_from_settings({**old, "beam_normalization": "gnmt"})


def test_a_choice_that_command_lines_do_not_offer_is_refused_in_hub_calls() -> None:
    settings = {**unset_search_fields(), "search": "sr", "sr_rank_by": "none"}
    with pytest.raises(ValueError, match=r"^--sr-rank-by none: is none of value, metric"):
        decoder_from_settings(settings)


def test_hints_name_what_the_chosen_decoder_has(warm: str) -> None:
    assert flags_instead_of("temperature", "mcts") == ["--mcts-temperature"]
    assert flags_instead_of("temperature", warm) == ["--warm-temperature"]
    assert flags_instead_of("sampling", "mcts") == ["--search sr"]
    assert flags_instead_of("diversity_rate", "mcts") == ["fairseq's own beam search"]


def test_a_decoder_that_always_needs_a_metric_is_named(warm: str) -> None:
    assert f"--search {warm}" in metric_settings()


def test_two_decoders_must_not_share_a_flag() -> None:
    @dataclass(frozen=True, kw_only=True)
    class KOptions(DecoderOptions):
        k: int = option(1, "clashes with --sr-top-k")

    with pytest.raises(ValueError, match=r"^--sr-top-k: 'sr_top' and 'sr' share it"):
        register_decoder("sr_top")(type("SrTop", (Warm,), {"Options": KOptions}))
    assert "sr_top_k" in decoder_flags()


def test_a_subclass_of_fairseqs_own_decoder_says_that_it_is_another() -> None:
    with pytest.raises(TypeError, match="set is_fairseqs_own = False, 'beam' is that one"):
        register_decoder("odd_beam")(type("OddBeam", (BeamDecoder,), {}))
