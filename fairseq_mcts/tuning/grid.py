"""The settings that a sweep tries: all combinations of the values given for some options."""

import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """One combination: what each swept option is set to, as a command line writes it."""

    values: tuple[tuple[str, str], ...]  # (name without dashes, value)

    def flags(self) -> list[str]:
        """Ready for a command line."""
        return [part for name, value in self.values for part in (f"--{name}", value)]

    def __str__(self) -> str:
        return shlex.join(self.flags())


def parse_options(
    texts: Sequence[str], known: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Reads NAME=VALUE,VALUE,… or NAME alone, which takes the values of `known`.

    The names are those of `known`, with or without dashes in front.
    """
    options: dict[str, Sequence[str]] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip().lstrip("-").replace("_", "-")
        if name not in known:
            raise ValueError(f"--sweep {text}: decoding has no option --{name} with a value")
        values = [value.strip() for value in rest.split(",")] if equals else known[name]
        if not values:
            raise ValueError(f"--sweep {text}: no values are known for it; give {name}=VALUE,…")
        if name in options:
            raise ValueError(f"--sweep {text}: --{name} is swept twice")
        if not all(values):
            raise ValueError(f"--sweep {text}: expected NAME=VALUE,VALUE,…")
        if len(set(values)) < len(values):
            raise ValueError(f"--sweep {text}: a value is given twice")
        options[name] = values
    return options


def grid(options: Mapping[str, Sequence[str]]) -> list[Setting]:
    """All combinations; the last option varies fastest."""
    combinations = itertools.product(*options.values())
    return [Setting(tuple(zip(options, values, strict=True))) for values in combinations]
