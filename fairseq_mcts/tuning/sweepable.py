"""The options of decoding that can be swept."""

import dataclasses
from typing import get_args, get_type_hints

from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.generators.decoder_flags import decoder_flags
from fairseq_mcts.generators.decoding_checks import OF_FILES
from fairseq_mcts.tasks.search_config import search_fields, unset_search_fields
from fairseq_mcts.tuning.grid import NO, YES

#: what to try of options that belong to no decoder
_OF_ALL_SEARCHES = {"value_read": ["mean", "lower:0.5", "lower:1"]}


def sweepable() -> dict[str, list[str]]:
    """Options of generation and of the searches, with the values to try if none are given."""
    defaults = {field.name: field.default for field in dataclasses.fields(GenerationConfig)}
    defaults.update(unset_search_fields())
    flags = decoder_flags()
    grids = {name: list(map(str, one.info.grid)) for name, one in flags.items()}
    grids.update((name, [NO, YES]) for name in _switches())
    grids.update(_OF_ALL_SEARCHES)
    of_fairseq = {name for name, default in defaults.items() if default is False}
    return {
        name.replace("_", "-"): grids.get(name, [])
        for name in defaults
        if not name.startswith("_") and name not in of_fairseq and name not in OF_FILES
    }


def switches() -> set[str]:
    """Options of decoders that take no value."""
    return {name.replace("_", "-") for name in _switches()}


def _switches() -> list[str]:
    return [name for name, one in decoder_flags().items() if one.info.flag_type is bool]


def whole_number_options() -> set[str]:
    """Those that take whole numbers alone."""
    kinds = get_type_hints(GenerationConfig)
    kinds.update((name, kind) for name, kind, _ in search_fields())
    return {
        name.replace("_", "-")
        for name, kind in kinds.items()
        if kind is int or int in get_args(kind)  # Optional[int]
    }
