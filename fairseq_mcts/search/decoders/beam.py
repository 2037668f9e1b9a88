"""Beam search by likelihood; greedy decoding is a beam of 1."""

from dataclasses import dataclass

import numpy as np

from fairseq_mcts.search import beam_kernels as kernels
from fairseq_mcts.search.beam_search import BeamSearch
from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.options import Count, DecoderOptions, beam_width, option
from fairseq_mcts.search.registry import register_decoder

_NORMALIZATIONS = {
    "length": kernels.BY_LENGTH,
    "gnmt": kernels.GNMT,
    "none": kernels.NO_NORMALIZATION,
}


# powers of lengths up to a thousand tokens are then numbers, neither 0 nor infinite
_GREATEST_PENALTY = 100.0


def _is_penalty(given: float) -> str | None:
    fine = abs(given) <= _GREATEST_PENALTY
    return None if fine else f"must lie in [-100, 100], is {given}"


@dataclass(frozen=True, kw_only=True)
class BeamOptions(DecoderOptions):
    """Options of beam search; the first two are fairseq's own --beam and --lenpen there."""

    beam: Count = option(5, "beam size", check=beam_width, flag=False)
    length_penalty: float = option(1.0, "exponent of the length", check=_is_penalty, flag=False)
    normalization: str = option(
        "length",
        "divide by t^lenpen (length, as fairseq does) or by ((5 + t) / 6)^lenpen (gnmt)",
        choices=tuple(_NORMALIZATIONS),
        flag_choices=("length", "gnmt"),
        grid=("length", "gnmt"),
    )


@register_decoder("beam")
class BeamDecoder(Decoder[BeamOptions]):
    """Beam search by likelihood (fairseq's own; greedy is --beam 1)."""

    Options = BeamOptions
    budget_option = "beam"
    presets = {"privileged": {}, "unprivileged": {}}  # it knows no metric
    uses_value = False
    is_fairseqs_own = True
    records_search = True

    def search(self, run: Run) -> BeamSearch:
        return BeamSearch(
            run,
            width=self.options.beam,
            rules=kernels.Rules(
                eos=run.constraints.eos,
                normalization=_NORMALIZATIONS[self.options.normalization],
                length_penalty=float(self.options.length_penalty),
            ),
        )

    @property
    def most_hypotheses(self) -> int:
        return int(np.min(self.options.beam))
