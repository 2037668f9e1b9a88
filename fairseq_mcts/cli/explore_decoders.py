"""What the page of fairseq-mcts-explore offers: decoders and their main options."""

from collections.abc import Mapping
from typing import Any

from fairseq_mcts.generators.decoder_flags import flag, unread_options
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.options import OptionInfo
from fairseq_mcts.search.registry import decoder_class, decoder_names, fairseqs_own_decoder


def offered_decoders(*, with_value: bool, with_metric: bool) -> list[dict[str, Any]]:
    """All algorithms whose searches can be shown; `missing`: what they need that is not there."""
    offered = []
    for name in decoder_names():
        cls = decoder_class(name)
        if not cls.with_options({}).records_search or (cls.is_fairseqs_own and not _stand_ins()):
            continue
        for label, fixed in (cls.variants or {name: {}}).items():
            decoder = cls.with_options(fixed)
            needs = {
                "a value": decoder.needs_value and not with_value,
                "a metric": decoder.needs_metric and not with_metric,
            }
            offered.append(
                {
                    "label": label,
                    "name": name,
                    "fixed": fixed,
                    "summary": cls.summary(),
                    "missing": " and ".join(what for what, missing in needs.items() if missing),
                    "options": [
                        {**_described(option, info), "main": option in _main_options(cls)}
                        for option, info in _offered_options(cls).items()
                        if option not in fixed and _has_effect(decoder, option, info)
                    ],
                }
            )
    return offered


def _offered_options(cls: type[Decoder[Any]]) -> dict[str, OptionInfo]:
    """What a page can set: the main options first, then those that have values to choose from."""
    infos = cls.option_infos()
    main = {option: infos[option] for option in _main_options(cls)}
    if cls.is_fairseqs_own:
        return main
    tried = {
        option: info for option, info in infos.items() if info.flag and (info.choices or info.grid)
    }
    return {**main, **tried}


def _has_effect(decoder: Decoder[Any], option: str, info: OptionInfo) -> bool:
    """Whether what a variant fixes leaves an option to be set."""
    as_it_is = {option: info.default}
    plain = decoder.with_options({})
    return unread_options(decoder, as_it_is) <= unread_options(plain, as_it_is)


def _main_options(cls: type[Decoder[Any]]) -> tuple[str, ...]:
    """What the decoder says, or its budget."""
    return cls.main_options or ((cls.budget_option,) if cls.budget_option else ())


def fields_of(search: str, options: Mapping[str, str]) -> dict[str, Any]:
    """What a page asks for, as the fields of a configuration."""
    if search not in decoder_names():
        raise ValueError(f"search {search!r}: is none of {', '.join(decoder_names())}")
    fixed: dict[str, Any] = {}
    if search == fairseqs_own_decoder():
        # it tells nothing of what it does; this gives the same translations, and does, but has
        # other defaults
        own = _offered_options(decoder_class(search))
        options = {option: str(info.default) for option, info in own.items()} | dict(options)
        [search, *_] = _stand_ins()
        fixed = dict(decoder_class(search).as_fairseqs_own or {})
    infos = decoder_class(search).option_infos()
    fields: dict[str, Any] = {"search": search}
    for option, value in {**options, **fixed}.items():
        field = f"{search}_{option}"
        if option not in infos or not infos[option].flag:
            raise ValueError(f"{flag(field)}: there is no such option")
        try:
            fields[field] = infos[option].flag_type(value)
        except ValueError:
            kind = infos[option].flag_type.__name__
            raise ValueError(f"{flag(field)} {value}: is no {kind}") from None
    return fields


def _stand_ins() -> list[str]:
    """Decoders that can translate as fairseq's own does."""
    return [name for name in decoder_names() if decoder_class(name).as_fairseqs_own is not None]


def _described(name: str, info: OptionInfo) -> dict[str, Any]:
    is_text = info.flag_type is str
    return {
        "name": name,
        "help": info.help,
        "default": info.default,
        "choices": info.flag_choices or info.choices or (info.grid if is_text else ()),
        "whole": info.flag_type is int,
    }
