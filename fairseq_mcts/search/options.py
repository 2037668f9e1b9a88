"""How a decoder declares its options: fields of a dataclass that say what each one is for.

    @dataclass(frozen=True, kw_only=True)
    class MyOptions(DecoderOptions):
        width: int = option(5, "candidates that are kept", check=at_least_one)

Command line, help, documentation and sweeps read the same fields; nothing is said twice.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

# one number for all sentences, or one for each
Count = int | Sequence[int]

# More is a mistake, which would ask for more memory than there is before anything is searched.
MOST = 1_000_000
WIDEST = 10_000

_METADATA = "option"


# writes an option, and the value it has if that is not None, as a caller knows it
Spelling = Callable[[str, Any], str]


def as_keyword(option: str, value: Any) -> str:
    """The spelling of Python calls: leaf='rollout'."""
    return option if value is None else f"{option}={value!r}"


class OptionError(ValueError):
    """An option that can't be honoured; command lines spell it as their flag.

    `value` is what the option is set to, where that is at fault; `other` is another option with
    its value, which `reason` mentions as {}; `others` are several, any of which would do.
    """

    def __init__(
        self,
        option: str,
        reason: str,
        *,
        value: Any = None,
        other: tuple[str, Any] | None = None,
        others: Sequence[tuple[str, Any]] = (),
    ) -> None:
        self.option = option
        self._reason, self._value = reason, value
        self._others = list(others) if other is None else [other]
        super().__init__(self.spelt(as_keyword))

    def spelt(self, spelling: Spelling) -> str:
        """The complaint in a caller's own words."""
        reason = self._reason
        if self._others:
            reason = reason.format(" or ".join(spelling(*one) for one in self._others))
        return f"{spelling(self.option, self._value)}: {reason}"


# (what is given) -> what is wrong with it, None if nothing is
Check = Callable[[Any], str | None]


@dataclass(frozen=True)
class OptionInfo:
    """What is known of an option beside its name and type."""

    help: str
    default: Any
    choices: tuple[str, ...] = ()
    check: Check | None = None
    # settings of other options with which it has no effect
    no_effect_with: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # settings of other options, of which one at least must hold for it to have an effect
    only_with: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # On a command line
    flag: bool = True  # whether it has one there
    flag_choices: tuple[str, ...] = ()  # the choices that it offers, where these are fewer
    flag_type: type = str  # what the flag's text is read as
    parse: Callable[[str], Any] | None = None  # from that to the option, if it is not the same
    instead_of: str | None = None  # fairseq's generation option whose place it takes
    grid: tuple[float | str, ...] = ()  # what a sweep tries if no values are given


def option(default: Any, help: str, **details: Any) -> Any:
    """A dataclass field with its help text; `details` are fields of `OptionInfo`."""
    info = OptionInfo(help=help, default=default, **details)
    return dataclasses.field(default=default, metadata={_METADATA: info})


@dataclass(frozen=True, kw_only=True)
class DecoderOptions:
    """Options of a decoder; each field is an `option`, and is checked when they are made."""

    def __post_init__(self) -> None:
        for name, info in option_infos(type(self)).items():
            given = getattr(self, name)
            wrong = _not_a_choice(given, info.choices) if info.choices else None
            if wrong is None and info.check is not None:
                wrong = info.check(given)
            if wrong is not None:
                raise OptionError(name, wrong)  # the complaint holds the value


def option_infos(options: type[DecoderOptions]) -> dict[str, OptionInfo]:
    """All options of a decoder by name, in the order of their declaration."""
    if options not in _known_infos:
        _known_infos[options] = _read_infos(options)
    return _known_infos[options]


_known_infos: dict[type[DecoderOptions], dict[str, OptionInfo]] = {}


def _read_infos(options: type[DecoderOptions]) -> dict[str, OptionInfo]:
    hints = get_type_hints(options)
    infos = {}
    for field in dataclasses.fields(options):
        if _METADATA not in field.metadata:
            raise TypeError(f"{options.__name__}.{field.name}: declare it with option(…)")
        info: OptionInfo = field.metadata[_METADATA]
        infos[field.name] = dataclasses.replace(info, flag_type=_flag_type(hints[field.name]))
    return infos


def _flag_type(hint: Any) -> type:
    """What a command line reads: the first plain type of a union such as `Count`; else text."""
    candidates = get_args(hint) if get_origin(hint) is not tuple else ()
    for kind in (hint, *candidates):
        if kind in (int, float, str, bool):
            return kind
    return str


def _not_a_choice(given: str, choices: tuple[str, ...]) -> str | None:
    return None if given in choices else f"{given!r} is none of {', '.join(map(repr, choices))}"


def at_least_one(given: Count) -> str | None:
    """A check of one number, or of one for each sentence."""
    numbers = np.atleast_1d(np.asarray(given))
    fine = np.issubdtype(numbers.dtype, np.integer) and bool((numbers >= 1).all())
    if fine and (numbers > MOST).any():
        return f"must be at most {MOST:,}: {given}"
    return None if fine else f"must be a whole number ≥ 1: {given}"


def beam_width(given: Count) -> str | None:
    """A check of the beams of a search that compares all their proposals: k for each of k."""
    wrong = at_least_one(given)
    if wrong is None and (np.asarray(given) > WIDEST).any():
        return f"must be at most {WIDEST:,}: {given}"
    return wrong


def refuse_wide_draws(samples: Count, *, without_replacement: bool) -> None:
    """Samples without replacement are the beams of a search."""
    if without_replacement and (wrong := beam_width(samples)) is not None:
        raise OptionError("samples", f"{wrong} (without replacement)")


def at_least_zero(given: int | None) -> str | None:
    """A check of a count that may be none at all, or unset."""
    if given is not None and given > MOST:
        return f"must be at most {MOST:,}: {given}"
    return None if given is None or given >= 0 else f"must be 0 (off) or more, is {given}"


def positive(given: float) -> str | None:
    """A check of a number > 0."""
    fine = math.isfinite(given) and given > 0
    return None if fine else f"must be greater than 0, is {given}"


def not_negative(given: float) -> str | None:
    """A check of a number ≥ 0."""
    fine = math.isfinite(given) and given >= 0
    return None if fine else f"must be ≥ 0, is {given}"


def one_or_more(given: float) -> str | None:
    """A check of a number ≥ 1, whole or not."""
    fine = math.isfinite(given) and given >= 1
    return None if fine else f"must be ≥ 1, is {given}"


def finite(given: float) -> str | None:
    """A check of any number."""
    return None if math.isfinite(given) else f"must be a number, is {given}"


def fraction(given: float) -> str | None:
    """A check of a number in [0, 1]."""
    return None if 0.0 <= given <= 1.0 else f"must lie in [0, 1], is {given}"


def threshold(given: float) -> str | None:
    """A check of a number in [0, 1)."""
    return None if 0.0 <= given < 1.0 else f"must lie in [0, 1), is {given}"


def mass(given: float) -> str | None:
    """A check of a number in (0, 1]."""
    return None if 0.0 < given <= 1.0 else f"must lie in (0, 1], is {given}"


def switch(text: str) -> bool:
    """What a text says of a switch, for `parse`."""
    if text.lower() not in ("yes", "no", "true", "false"):
        raise ValueError(f"expected yes or no, is {text!r}")
    return text.lower() in ("yes", "true")
