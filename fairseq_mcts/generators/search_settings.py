"""The file of --search-settings: how to search, as a sweep found it or a user wrote it down.

    {
      "search": "NAME",
      "budget": 50,
      "options": {"mcts-c-puct": 4.0, "mcts-backup": "mean", "max-len-b": 100},
      "tuned_for": …,
      "how": …
    }

`search` is the decoder. `budget` (of --search-budget) and `options` (flags of that decoder,
--value-read and fairseq's own of generation, without their dashes) may be left out. `tuned_for` and
`how` are for people: nothing reads them. A file names no networks and no metric to search by: these
lie elsewhere on every machine.
"""

import json
from argparse import Namespace
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, get_type_hints

from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.generators.decoder_flags import (
    chosen_search,
    decoder_flags,
    decoder_from_settings,
    unread_fields,
    unread_options,
)
from fairseq_mcts.generators.decoding_checks import DEFAULT_VALUE_READ, value_caution
from fairseq_mcts.generators.fairseq_options import refuse_unsupported
from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.search.registry import decoder_class, decoder_names

#: fairseq's generation options that a file may hold: those that decide about translations
GENERATION = (
    *("beam", "lenpen", "unkpen", "unnormalized", "temperature", "no_early_stop"),
    *("min_len", "max_len_a", "max_len_b", "match_source_len", "no_repeat_ngram_size"),
    *("sampling", "sampling_topk", "sampling_topp"),
    *("diverse_beam_groups", "diverse_beam_strength", "diversity_rate"),
)
_KEYS = ("search", "budget", "options", "tuned_for", "how")
_IN_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


class SearchSettings(NamedTuple):
    """What a file says."""

    path: str
    search: str
    budget: int | None
    searching: dict[str, Any]  # by fields of a configuration: mcts_c_puct
    generation: dict[str, Any]  # fairseq's own


def settings_of(
    decoder: Decoder[Any],
    generation: Any,
    *,
    budget: int | None = None,
    value_read: str | None = None,
    named: Collection[str] = (),
) -> dict[str, Any]:
    """What a file says of a decoder: all that its flags can set, defaults too, which may change.

    Of fairseq's generation options it holds those that differ from their defaults or are `named`.
    """
    set_by_flags = {
        option: getattr(decoder.options, option)
        for option, info in decoder.option_infos().items()
        if info.flag and getattr(decoder.options, option) is not None
    }
    unread = unread_options(decoder, set_by_flags)
    if budget is not None:
        unread.add(str(decoder.budget_option))
    options = {
        f"{decoder.name}_{option}": _as_flags_take_it(value)
        for option, value in set_by_flags.items()
        if option not in unread
    }
    if decoder.needs_value:
        options["value_read"] = value_read or DEFAULT_VALUE_READ
    defaults = GenerationConfig()
    for name in GENERATION:
        value = getattr(generation, name)
        if value != getattr(defaults, name) or name in named:
            options[name] = value
    of_budget = {} if budget is None else {"budget": budget}
    spelt = {name.replace("_", "-"): value for name, value in options.items()}
    return {"search": decoder.name, **of_budget, "options": spelt}


def read_settings(path: str) -> SearchSettings:
    """Reads a file; what is wrong with it is told with its name."""
    try:
        settings = _parse(path, _read(path))
        _check(settings)
    except ValueError as error:
        raise ValueError(f"--search-settings {path}: {error}") from error
    return settings


def settable_fields() -> list[str]:
    """The fields of a configuration in whose place a file can stand."""
    return ["search", "search_budget", "search_preset", "value_read", *decoder_flags()]


def resolve(settings: Mapping[str, Any], generation: Any) -> tuple[dict[str, Any], Any]:
    """Both with what the file of --search-settings says, where they say nothing themselves.

    `settings` are fields of a configuration, None where they are not given; `generation` holds
    fairseq's generation options, which count as given where they differ from their defaults. What
    is returned asks for no file any more.
    """
    path = settings["search_settings"]
    if path is None:
        return {**settings, "search": chosen_search(settings)}, generation
    file = read_settings(path)
    defaults = GenerationConfig()
    filled = {
        name: value
        for name, value in file.generation.items()
        if getattr(generation, name, getattr(defaults, name)) == getattr(defaults, name)
    }
    given = dict(generation) if hasattr(generation, "keys") else vars(generation)
    return {**_merge(file, settings), "search_settings": None}, Namespace(**{**given, **filled})


def _merge(file: SearchSettings, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a configuration; a flag wins over the file, be it a preset or a budget."""
    if given["search"] is not None and str(given["search"]) != file.search:
        raise ValueError(
            f"--search-settings {file.path}: is for --search {file.search}, not for --search "
            f"{given['search']}"
        )
    merged = {**given, "search": file.search}
    cls = decoder_class(file.search)
    count = f"{file.search}_{cls.budget_option}"
    of_preset = cls.presets.get(str(given["search_preset"]), {})
    decided = {f"{file.search}_{option}" for option in of_preset}
    if given["search_budget"] is not None or given.get(count) is not None:
        decided.add(count)
    elif count not in decided:
        merged["search_budget"] = file.budget
    decided |= {field for field in file.searching if given.get(field) is not None}
    filled = file.searching.keys() - decided
    merged.update((field, file.searching[field]) for field in filled)
    for field in unread_fields(merged) & filled:
        merged[field] = None  # a flag has taken its effect
    if "value_read" in filled and not decoder_from_settings(merged).needs_value:
        merged["value_read"] = None
    return merged


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except FileNotFoundError:
        raise ValueError("no such file") from None
    except OSError as error:
        raise ValueError(error.strerror) from error
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from error


def _parse(path: str, content: Any) -> SearchSettings:
    if not isinstance(content, dict):
        raise ValueError('expected {"search": …, "options": {…}}')
    for key in content:
        if key not in _KEYS:
            raise ValueError(f"{key!r} is none of {', '.join(_KEYS)}")
    search = content.get("search")
    if search not in decoder_names():
        raise ValueError(f"search: {search!r} is none of {', '.join(decoder_names())}")
    budget = content.get("budget")
    if budget is not None:
        budget = _typed("budget", int, budget)
    options = content.get("options", {})
    if not isinstance(options, dict):
        raise ValueError('options: expected {"name": value, …}')
    settings = SearchSettings(path, search, budget, {}, {})
    flags, kinds = decoder_flags(), get_type_hints(GenerationConfig)
    for name, value in options.items():
        field = name.lstrip("-").replace("-", "_")
        if field in flags and flags[field].decoder == search:
            part, kind = settings.searching, flags[field].info.flag_type
        elif field == "value_read":
            part, kind = settings.searching, str
        elif field in GENERATION:
            part, kind = settings.generation, kinds[field]
        else:
            raise ValueError(f"{name!r}: --search {search} has no such option")
        if field in part:
            raise ValueError(f"{name!r}: is given twice")
        part[field] = _typed(name, kind, value)
    return settings


def _typed(name: str, kind: type, value: Any) -> Any:
    fits = isinstance(value, (int, float) if kind is float else kind)
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name}: expected {_IN_WORDS[kind]}, found {json.dumps(value)}")
    return kind(value)


def _check(settings: SearchSettings) -> None:
    """Refuses what a command line with these settings would be refused for."""
    fields = dict.fromkeys(settable_fields())
    fields.update(settings.searching, search=settings.search, search_budget=settings.budget)
    decoder = decoder_from_settings(fields)
    value_caution(fields)
    if fields["value_read"] is not None and not decoder.needs_value:
        raise ValueError(f"value-read: --search {settings.search}, as it is set, uses no value")
    if not decoder.is_fairseqs_own:
        refuse_unsupported(settings.search, Namespace(**settings.generation), GenerationConfig())
    elif settings.budget is not None:
        raise ValueError(f"budget {settings.budget}: has no effect with --search {settings.search}")


def _as_flags_take_it(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
