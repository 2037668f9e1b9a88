"""Lists of numbers as options write them: 0,3,7-9."""

import re
from collections.abc import Iterable


def parse_numbers(option: str, text: str, least: int) -> frozenset[int]:
    """The numbers of e.g. `0,3,7-9`, none below `least`; complaints name the option."""
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if found is None:
            raise ValueError(f"{option} {text}: expected numbers and ranges, for example 0,3,7-9")
        first, last = int(found[1]), int(found[2] or found[1])
        if first < least:
            raise ValueError(f"{option} {text}: {first} is too small, they count from {least}")
        if last < first:
            raise ValueError(f"{option} {text}: the range {part.strip()} is empty")
        numbers.update(range(first, last + 1))
    return frozenset(numbers)


def written(numbers: Iterable[int]) -> str:
    """The inverse of `parse_numbers`, in ascending order."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
