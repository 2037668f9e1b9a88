"""Decoders by name. A user's own is registered by the same decorator, from a --user-dir.

@register_decoder("mine")
class MyDecoder(Decoder[MyOptions]):
    ...
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.search.options import Count, DecoderOptions, OptionError

_DECODERS: dict[str, type[Decoder[Any]]] = {}
_LISTENERS: list[Callable[[], None]] = []

DecoderType = TypeVar("DecoderType", bound=type[Decoder[Any]])


def register_decoder(name: str) -> Callable[[DecoderType], DecoderType]:
    """Class decorator: makes a `Decoder` known under `name`, the value of --search."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise ValueError(f"decoder name {name!r}: use lower-case letters, digits and underscores")

    def register(cls: DecoderType) -> DecoderType:
        if not (isinstance(cls, type) and issubclass(cls, Decoder)):
            raise TypeError(f"decoder {name!r}: {cls!r} is not a subclass of Decoder")
        _refuse_incomplete(name, cls)
        known = _DECODERS.get(name)
        # A --user-dir may be imported under two module names: the same class twice is harmless.
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise ValueError(f"decoder {name!r} is already registered by {known.__qualname__}")
        cls.name = name
        _DECODERS[name] = cls
        try:
            _tell_listeners()
        except ValueError:  # one of them has no place for it
            del _DECODERS[name]
            raise
        return cls

    return register


def _refuse_incomplete(name: str, cls: type[Decoder[Any]]) -> None:
    options = getattr(cls, "Options", None)
    if not (isinstance(options, type) and issubclass(options, DecoderOptions)):
        raise TypeError(f"decoder {name!r}: its Options must be a subclass of DecoderOptions")
    own = [other for other, known in _DECODERS.items() if known.is_fairseqs_own and other != name]
    if cls.is_fairseqs_own and own:
        raise TypeError(f"decoder {name!r}: set is_fairseqs_own = False, {own[0]!r} is that one")
    infos = cls.option_infos()
    named = [*cls.value_unless, *cls.metric_if]
    named += [other for info in infos.values() for other in info.no_effect_with]
    named += [other for info in infos.values() for other in info.only_with]
    named += [] if cls.budget_option is None else [cls.budget_option]
    named += [option for preset in cls.presets.values() for option in preset]
    named += [option for variant in cls.variants.values() for option in variant]
    named += cls.main_options
    for option in named:
        if option not in infos:
            raise TypeError(f"decoder {name!r}: {option!r} is none of its options")


def unregister_decoder(name: str) -> None:
    """Forgets a decoder: for who registers one for a while only, as tests do."""
    del _DECODERS[name]
    _tell_listeners()


def _tell_listeners() -> None:
    for listener in _LISTENERS:
        listener()


def decoder_names() -> list[str]:
    """Names of all registered decoders, sorted."""
    return sorted(_DECODERS)


def decoder_class(name: str) -> type[Decoder[Any]]:
    """The class registered under `name`."""
    if name not in _DECODERS:
        raise OptionError("search", f"{name!r} is none of {', '.join(map(repr, decoder_names()))}")
    return _DECODERS[name]


def fairseqs_own_decoder() -> str:
    """The name of the decoder that fairseq brings along."""
    return next(name for name, cls in _DECODERS.items() if cls.is_fairseqs_own)


def make_decoder(
    name: str,
    given: Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
    budget: Count | None = None,
) -> Decoder[Any]:
    """The decoder `name` with the options that are given; see `Decoder.with_options`."""
    return decoder_class(name).with_options(given or {}, preset=preset, budget=budget)


def on_registration(listener: Callable[[], None]) -> None:
    """Calls `listener` whenever a decoder is registered, or forgotten, from now on."""
    _LISTENERS.append(listener)
