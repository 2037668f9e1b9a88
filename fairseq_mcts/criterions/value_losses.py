"""How a value is learned: the presets, and what a user says otherwise."""

from dataclasses import dataclass, replace
from typing import Any

#: width of HL-Gauss targets unless given, as a part of the range that the buckets cover
SIGMA_OF_RANGE = 1 / 40


@dataclass(frozen=True)
class ValueLosses:
    """The losses of a value and their weights; the options of `value` say what each means."""

    value_weight: float
    value_target: str
    within_source_weight: float
    finished_weight: float
    match_weight: float
    hl_gauss_sigma: float | None = None  # in buckets; None: `SIGMA_OF_RANGE`

    def sigma(self, buckets: int) -> float | None:
        """The width of soft targets in buckets, None for one-hot targets."""
        if self.value_target == "one-hot":
            return None
        return self.hl_gauss_sigma or SIGMA_OF_RANGE * buckets


PRESETS = {
    # searches compare prefixes of one source, so that is what is learned; for several rows a source
    "within-sources": ValueLosses(1.0, "hl-gauss", 100.0, 5.0, 10.0),
    # for millions of sources with one greedy translation each
    "paper": ValueLosses(0.1, "one-hot", 0.0, 1.0, 0.0),
}


def value_losses(cfg: Any) -> ValueLosses:
    """What the options say: the preset, and whatever is given beside it."""
    preset = PRESETS[str(cfg.value_preset)]
    names = ("value_weight", "within_source_weight", "finished_weight", "match_weight")
    given = {
        name: one for name in (*names, "hl_gauss_sigma") if (one := getattr(cfg, name)) is not None
    }
    if cfg.value_target is not None:
        given["value_target"] = str(cfg.value_target)
    chosen = replace(preset, **given)
    if chosen.value_weight < 0:
        raise ValueError("--value-weight must not be negative")
    if chosen.within_source_weight < 0:
        raise ValueError("--within-source-weight must not be negative")
    if chosen.match_weight < 0:
        raise ValueError("--match-weight must not be negative")
    if not chosen.finished_weight > 0:
        raise ValueError("--finished-weight must be greater than 0")
    if chosen.hl_gauss_sigma is not None:
        if chosen.value_target != "hl-gauss":
            raise ValueError("--hl-gauss-sigma: belongs to --value-target hl-gauss")
        if not chosen.hl_gauss_sigma > 0:
            raise ValueError("--hl-gauss-sigma must be greater than 0")
    return chosen
