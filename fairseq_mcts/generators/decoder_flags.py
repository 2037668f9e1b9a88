"""The decoders' options as flags of a command line: --NAME-WIDTH is `width` of decoder "name"."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.search.options import OptionError, OptionInfo, Spelling
from fairseq_mcts.search.registry import (
    decoder_class,
    decoder_names,
    fairseqs_own_decoder,
    make_decoder,
)

# options that all decoders have in common, and the configuration's fields for them
_COMMON = {"search": "search", "budget": "search_budget", "preset": "search_preset"}


class DecoderFlag(NamedTuple):
    """Which option of which decoder a flag sets."""

    decoder: str
    option: str
    info: OptionInfo


def flag(field: str) -> str:
    """A field of a configuration as it is written on a command line."""
    return "--" + field.replace("_", "-")


def decoder_flags() -> dict[str, DecoderFlag]:
    """All options of decoders that have flags, by the fields of a configuration: name_width."""
    flags: dict[str, DecoderFlag] = {}
    for name in decoder_names():
        for option, info in decoder_class(name).option_infos().items():
            field = f"{name}_{option}"
            if field in flags:
                raise ValueError(f"{flag(field)}: {name!r} and {flags[field].decoder!r} share it")
            if info.flag:
                flags[field] = DecoderFlag(name, option, info)
    return flags


def as_flag(decoder: str) -> Spelling:
    """The spelling of command lines for the options of a decoder: --name-width 3."""

    def spell(option: str, value: Any) -> str:
        name = flag(_COMMON.get(option, f"{decoder}_{option}"))
        return name if value is None else f"{name} {value}"

    return spell


def flags_instead_of(generation_option: str, decoder: str) -> list[str]:
    """What takes the place of one of fairseq's generation options: of `decoder`, or of others."""
    flags = decoder_flags()
    found = [name for name, one in flags.items() if one.info.instead_of == generation_option]
    own = [name for name in (*found, f"{decoder}_{generation_option}") if name in flags]
    own = [flag(name) for name in dict.fromkeys(own) if flags[name].decoder == decoder]
    decoders = [
        f"--search {name}"
        for name in decoder_names()
        if decoder_class(name).instead_of == generation_option
    ]
    return own or [*decoders, *map(flag, found)] or ["fairseq's own beam search"]


def metric_settings() -> list[str]:
    """The settings of all decoders that score finished sentences by a metric."""
    always = [f"--search {name}" for name in decoder_names() if decoder_class(name).uses_metric]
    return always + [
        as_flag(name)(option, value)
        for name in decoder_names()
        for option, values in decoder_class(name).metric_if.items()
        for value in values
    ]


def presets() -> dict[str, list[str]]:
    """All presets by name, with the flags that each stands for."""
    found: dict[str, list[str]] = {}
    for name in decoder_names():
        for preset, settings in decoder_class(name).presets.items():
            flags = [as_flag(name)(option, value) for option, value in settings.items()]
            found.setdefault(preset, []).extend(flags)
    return found


def chosen_search(settings: Mapping[str, Any]) -> str:
    """The decoder that fields of a configuration name, or fairseq's own."""
    name = settings["search"]
    if name is None:
        return fairseqs_own_decoder()
    if str(name) not in decoder_names():  # calls of the hub interface pass no parser
        raise ValueError(f"--search {name}: is none of {', '.join(decoder_names())}")
    return str(name)


def decoder_from_settings(settings: Mapping[str, Any]) -> Decoder[Any]:
    """The decoder that fields of a configuration ask for; those of other decoders are refused."""
    decoder, given = _made_and_given(settings)
    try:
        decoder.refuse_unread(given)
    except OptionError as error:
        raise ValueError(error.spelt(as_flag(decoder.name))) from error
    return decoder


def unread_fields(settings: Mapping[str, Any]) -> set[str]:
    """The fields of a configuration that the decoder they ask for has no use for as it is set."""
    decoder, given = _made_and_given(settings)
    return {f"{decoder.name}_{option}" for option in unread_options(decoder, given)}


def unread_options(decoder: Decoder[Any], given: Mapping[str, Any]) -> set[str]:
    """The options among those `given` that the decoder has no use for as it is set."""
    return {option for option, value in given.items() if not _reads(decoder, option, value)}


def _reads(decoder: Decoder[Any], option: str, value: Any) -> bool:
    try:
        decoder.refuse_unread({option: value})
    except OptionError:
        return False
    return True


def _made_and_given(settings: Mapping[str, Any]) -> tuple[Decoder[Any], dict[str, Any]]:
    """The decoder, and its options that the fields of a configuration set."""
    name = chosen_search(settings)
    given: dict[str, Any] = {}
    for field, one in decoder_flags().items():
        value = settings.get(field)
        if value is None:
            continue
        value = str(value) if isinstance(value, Enum) else value
        if one.decoder != name:
            if decoder_class(one.decoder).is_fairseqs_own and value == one.info.default:
                continue  # checkpoints of version 0.1 hold it
            raise ValueError(f"{flag(field)} {value}: has no effect with --search {name}")
        choices = one.info.flag_choices
        if choices and value not in choices:
            raise ValueError(f"{flag(field)} {value}: is none of {', '.join(choices)}")
        given[one.option] = value
    preset = settings["search_preset"]
    try:
        cls = decoder_class(name)
        parsed = {option: _parsed(cls, option, value) for option, value in given.items()}
        _refuse_two_budgets(cls, settings["search_budget"], parsed)
        decoder = make_decoder(
            name,
            parsed,
            preset=None if preset is None else str(preset),
            budget=settings["search_budget"],
        )
    except OptionError as error:
        raise ValueError(error.spelt(as_flag(name))) from error
    return decoder, given


def _parsed(cls: type[Decoder[Any]], option: str, value: Any) -> Any:
    parse = cls.option_infos()[option].parse
    if parse is None or not isinstance(value, str):
        return value
    try:
        return parse(value)
    except ValueError as error:
        raise OptionError(option, str(error), value=value) from error


def _refuse_two_budgets(cls: type[Decoder[Any]], budget: Any, given: Mapping[str, Any]) -> None:
    if budget is not None and cls.budget_option is not None and cls.budget_option in given:
        count = (cls.budget_option, given[cls.budget_option])
        raise OptionError("budget", "has no effect beside {}", value=budget, other=count)
