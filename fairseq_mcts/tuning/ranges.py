"""Ranges of numbers that a sampler draws from: LOW..HIGH, LOW..HIGH:log, LOW..HIGH:STEP."""

import math
import re
from dataclasses import dataclass

_RANGE = re.compile(r"(?P<low>[^:]+?)\.\.(?P<high>[^:]+)(?::(?P<how>.+))?")
_DIGITS = 4  # of a number on a command line: settings can be told apart, and read


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float
    whole: bool
    log: bool = False
    step: float | None = None

    def as_text(self, number: float) -> str:
        """A number of the range as a command line writes it."""
        return str(int(number)) if self.whole else f"{number:.{_DIGITS}g}"

    def ends(self) -> list[str]:
        return [self.as_text(self.low), self.as_text(self.high)]


def parse_range(text: str, *, whole: bool) -> Range | None:
    """A range, or None if the text is none; `whole`: whether the option takes whole numbers alone.

    Refuses one that can't be drawn from.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    how = found["how"]
    low, high = (_number(found[end], whole) for end in ("low", "high"))
    log = how == "log"
    step = None if how is None or log else _number(how, whole)
    if low >= high:
        raise ValueError(f"{found['low']} is not below {found['high']}")
    if log and low <= 0:
        raise ValueError("a range by :log begins above 0")
    if step is not None and not 0 < step <= high - low:
        raise ValueError(f"the step {how} does not fit between {found['low']} and {found['high']}")
    return Range(low, high, whole, log, step)


def _number(text: str, whole: bool) -> float:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        kind = "a whole number" if whole else "a number"
        raise ValueError(
            f"{text.strip()!r} is not {kind}; expected LOW..HIGH[:log|:STEP]"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()} is no end of a range")
    return number
