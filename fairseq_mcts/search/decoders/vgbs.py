"""Value-guided beam search (He et al. 2017; Leblond et al. 2021, section 4.2)."""

from dataclasses import dataclass

import numpy as np

from fairseq_mcts.search import beam_kernels as kernels
from fairseq_mcts.search.beam_search import BeamSearch
from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.options import (
    Count,
    DecoderOptions,
    beam_width,
    fraction,
    option,
    positive,
)
from fairseq_mcts.search.registry import register_decoder


def _parse_bounds(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError("expected two numbers, low,high") from None
    return low, high


def _are_bounds(given: tuple[float, float]) -> str | None:
    fine = len(given) == 2 and 0 < given[0] < given[1]
    return None if fine else f"must be (low, high) with 0 < low < high, is {given}"


@dataclass(frozen=True, kw_only=True)
class VgbsOptions(DecoderOptions):
    """Options of value-guided beam search."""

    beam: Count = option(7, "beam size", check=beam_width, instead_of="beam")
    alpha: float = option(
        0.5,
        "weight of the VALUE: candidates are ranked by (1 - alpha) log p / t + alpha v, so 0 is "
        "beam search. The paper's tables mean this; its formula has alpha the other way round",
        check=fraction,
        grid=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
    )
    temperature: float = option(
        1.0, "temperature of the policy", check=positive, instead_of="temperature"
    )
    value_scale: str = option(
        "plain",
        "rank by the value as it is or by its logarithm",
        choices=("plain", "log"),
        grid=("plain", "log"),
    )
    value_bounds: tuple[float, float] = option(
        (1e-6, 1.0),
        "low,high that values are cut to before their logarithm",
        check=_are_bounds,
        parse=_parse_bounds,
        no_effect_with={"value_scale": "plain"},
    )


@register_decoder("vgbs")
class VgbsDecoder(Decoder[VgbsOptions]):
    """Beam search that ranks prefixes by likelihood and value."""

    Options = VgbsOptions
    budget_option = "beam"
    presets = {"privileged": {"alpha": 0.5}, "unprivileged": {"alpha": 0.9}}
    variants = {"VGBS": {}}
    main_options = ("beam", "alpha")
    value_unless = {"alpha": (0.0,)}
    records_search = True
    as_fairseqs_own = {"alpha": 0.0}

    def search(self, run: Run) -> BeamSearch:
        options = self.options
        low, high = options.value_bounds
        return BeamSearch(
            run,
            width=options.beam,
            temperature=options.temperature,
            with_values=self.needs_value,
            rules=kernels.Rules(
                eos=run.constraints.eos,
                normalization=kernels.VALUE_GUIDED,
                alpha=float(options.alpha),
                log_value=options.value_scale == "log",
                value_low=float(low),
                value_high=float(high),
                highest_value=float(run.highest_value),
            ),
        )

    @staticmethod
    def charge(count: int) -> int:
        return count + count * count

    @property
    def most_hypotheses(self) -> int:
        return int(np.min(self.options.beam))
