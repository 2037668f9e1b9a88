"""What the page of fairseq-mcts-explore offers: decoders and their main options."""

from collections.abc import Mapping
from typing import Any

from fairseq_mcts.generators.decoder_flags import flag
from fairseq_mcts.search.options import OptionInfo
from fairseq_mcts.search.registry import decoder_class, decoder_names, fairseqs_own_decoder


def offered_decoders(*, with_value: bool, with_metric: bool) -> list[dict[str, Any]]:
    """All decoders whose searches can be shown; `usable`: with their options as they are."""
    offered = []
    for name in decoder_names():
        cls = decoder_class(name)
        decoder = cls.with_options({})
        is_own = name == fairseqs_own_decoder()
        if not decoder.records_search or (is_own and not _stand_ins()):
            continue
        infos = cls.option_infos()
        main = {
            option: info
            for option, info in infos.items()
            if option == cls.budget_option or (info.flag and (info.choices or info.grid))
        }
        if is_own:
            main = {option: infos[option] for option in infos if option == cls.budget_option}
        usable = (with_value or not decoder.needs_value) and (
            with_metric or not decoder.needs_metric
        )
        offered.append(
            {
                "name": name,
                "summary": cls.summary(),
                "usable": usable,
                "options": [_described(option, info) for option, info in main.items()],
            }
        )
    return offered


def fields_of(search: str, options: Mapping[str, str]) -> dict[str, Any]:
    """What a page asks for, as the fields of a configuration."""
    if search not in decoder_names():
        raise ValueError(f"search {search!r}: is none of {', '.join(decoder_names())}")
    fixed: dict[str, Any] = {}
    if search == fairseqs_own_decoder():
        # it tells nothing of what it does; this gives the same translations, and does
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
