"""Which options are swept, what is tried of each, and all combinations of their values."""

import difflib
import itertools
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fairseq_mcts.tuning.ranges import Range, parse_range

#: the values of a switch, which a command line gives or leaves out
NO, YES = "no", "yes"

#: what is tried of each option: some values, or numbers of a range
Space = dict[str, Sequence[str] | Range]


@dataclass(frozen=True)
class Setting:
    """One combination: what each swept option is set to, as a command line writes it."""

    values: tuple[tuple[str, str], ...]  # (name without dashes, value)

    def flags(self) -> list[str]:
        """Ready for a command line."""
        return [part for name, value in self.values for part in _flag(name, value)]

    def __str__(self) -> str:
        left_out = "".join(f" (no --{name})" for name, value in self.values if value == NO)
        return f"{shlex.join(self.flags())}{left_out}".lstrip()


def _flag(name: str, value: str) -> tuple[str, ...]:
    if value == NO:
        return ()
    return (f"--{name}",) if value == YES else (f"--{name}", value)


def parse_options(
    texts: Sequence[str],
    known: Mapping[str, Sequence[str]],
    whole: Collection[str] = (),
    switches: Collection[str] = (),
) -> Space:
    """Reads NAME=VALUE,VALUE,… or NAME=LOW..HIGH, or NAME alone, which takes the values of `known`.

    The names are those of `known`, with or without dashes in front; the options in `whole` take
    whole numbers, those in `switches` yes and no, which no other takes.
    """
    options: Space = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip().lstrip("-").replace("_", "-")
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean --{close[0]}?)" if close else ""
            raise ValueError(f"--sweep {text}: decoding has no option --{name} with a value{hint}")
        if name in options:
            raise ValueError(f"--sweep {text}: --{name} is swept twice")
        try:
            drawn = parse_range(rest.strip(), whole=name in whole)
        except ValueError as error:
            raise ValueError(f"--sweep {text}: {error}") from None
        if drawn is not None and name not in switches:
            options[name] = drawn
            continue
        values = [value.strip() for value in rest.split(",")] if equals else known[name]
        if not values:
            raise ValueError(f"--sweep {text}: no values are known for it; give {name}=VALUE,…")
        if not all(values):
            raise ValueError(f"--sweep {text}: expected NAME=VALUE,VALUE,…")
        if len(set(values)) < len(values):
            raise ValueError(f"--sweep {text}: a value is given twice")
        if name in switches and not {NO, YES}.issuperset(values):
            raise ValueError(f"--sweep {text}: expected {name}={NO},{YES}")
        if name not in switches and {NO, YES} & set(values):
            raise ValueError(f"--sweep {text}: --{name} takes neither {NO} nor {YES}")
        options[name] = values
    return options


def grid(options: Mapping[str, Sequence[str] | Range]) -> list[Setting]:
    """All combinations; the last option varies fastest."""
    values = []
    for name, tried in options.items():
        if isinstance(tried, Range):
            low, high = tried.ends()
            raise ValueError(
                f"--sweep {name}={low}..{high}: a grid tries values one by one; give them with "
                "commas, or --sampler tpe"
            )
        values.append(tried)
    return [Setting(tuple(zip(options, one, strict=True))) for one in itertools.product(*values)]


def extremes(options: Space) -> list[Setting]:
    """Settings that together hold every value and both ends of every range, to be checked."""
    values = {
        name: tried.ends() if isinstance(tried, Range) else tried for name, tried in options.items()
    }
    count = max(map(len, values.values()))
    return [
        Setting(tuple((name, tried[min(number, len(tried) - 1)]) for name, tried in values.items()))
        for number in range(count)
    ]
